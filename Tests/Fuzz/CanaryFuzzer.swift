// Compiled and run by Scripts/fuzz, to check that a crash is reported.

/// Crashes for inputs that start with `BUG`, which libFuzzer must find.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCanary(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    if size >= 3, data[0] == UInt8(ascii: "B"), data[1] == UInt8(ascii: "U"), data[2] == UInt8(ascii: "G") {
        fatalError("the canary sings")
    }
    return 0
}
