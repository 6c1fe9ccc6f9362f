import CLinux
import Glibc

/// An operating-system thread that runs one function and then ends.
struct LoopThread: Sendable {
    private let handle: pthread_t

    /// Starts a thread named `name`; Linux keeps the first 15 bytes of the name.
    ///
    /// The thread blocks SIGPIPE. If the system refuses the priority, the thread runs with its normal priority.
    ///
    /// - Throws: ``TransportError`` if the system has no thread left.
    init(name: String, priority: LoopPriority = .normal, _ body: @escaping @Sendable () -> Void) throws(TransportError)
    {
        final class Start {
            let name: String
            let niceness: Int32
            let body: @Sendable () -> Void
            init(name: String, niceness: Int32, body: @escaping @Sendable () -> Void) {
                self.name = name
                self.niceness = niceness
                self.body = body
            }
        }
        let start = Unmanaged.passRetained(
            Start(
                name: String(name.utf8.prefix(15)) ?? "courier", niceness: priority.niceness, body: body))
        var handle = pthread_t()
        let result = pthread_create(
            &handle, nil,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                courier_name_thread(start.name)
                if start.niceness != 0 { courier_set_thread_niceness(start.niceness) }
                courier_block_sigpipe()
                start.body()
                return nil
            }, start.toOpaque())
        guard result == 0 else {
            start.release()
            throw TransportError.system(result, "no thread could be started")
        }
        self.handle = handle
    }

    /// Waits until the thread has ended. Call either this function or ``detach()``, once.
    func join() { pthread_join(handle, nil) }

    /// Lets the system release the thread when it ends, without a call of `join()`.
    func detach() { pthread_detach(handle) }

    /// The number of the calling thread. No other living thread has the same number.
    @inline(__always) static var current: UInt { courier_thread_self() }
}

/// Returns the operating system's description of an error number.
func describe(errno number: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 128)
    return buffer.withUnsafeMutableBufferPointer { space in
        courier_describe_error(number, space.baseAddress, space.count).map { String(cString: $0) } ?? "error \(number)"
    }
}
