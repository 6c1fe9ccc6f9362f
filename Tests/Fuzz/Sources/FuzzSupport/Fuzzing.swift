import CLibFuzzer
import Glibc

/// Runs libFuzzer with the arguments of the command line, until it ends the process.
///
/// - Parameter check: Checks one input. It ends the process by ``demand(_:_:)`` if a property does not hold.
package func runFuzzer(_ check: @escaping (InputReader) -> Void) -> Never {
    checkOfInputs = check
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    let status = LLVMFuzzerRunDriver(&count, &arguments) { data, size in
        checkOfInputs(InputReader(data, size))
        return 0
    }
    exit(status)
}

/// Checks one input. This variable is safe: it is set once, before libFuzzer calls the function on the same thread.
private nonisolated(unsafe) var checkOfInputs: (InputReader) -> Void = { _ in }

/// Ends the process if a property does not hold.
package func demand(_ holds: Bool, _ property: @autoclosure () -> String) {
    if !holds { fatalError("broken property: \(property())") }
}

/// The mistake that `Scripts/fuzz --self-test` plants in each fuzzer.
///
/// Each fuzzer changes one correct result if ``isPlanted`` is true. If the fuzzer does not notice, then its property is
/// never checked, for example because no input of the corpus is valid.
package enum Plant {
    /// True if the environment variable `FUZZ_PLANT` is set.
    package static let isPlanted = getenv("FUZZ_PLANT") != nil
}
