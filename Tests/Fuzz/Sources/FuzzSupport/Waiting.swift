import Dispatch

/// Runs asynchronous code, and waits for its end. libFuzzer calls only synchronous code.
///
/// - Parameter body: The code. It runs on another thread.
/// - Returns: The result of `body`.
package func waiting<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
    let (end, box) = (DispatchSemaphore(value: 0), Box<Value>())
    Task.detached {
        box.value = await body()
        end.signal()
    }
    end.wait()
    guard let value = box.value else { fatalError("the task has ended without a value") }
    return value
}

/// Holds the result of a task. It is safe: the task writes the value before it signals the semaphore, and the waiting
/// thread reads the value after that.
private final class Box<Value>: @unchecked Sendable {
    var value: Value?
}
