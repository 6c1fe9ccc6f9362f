#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Musl)
    import CLinux
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// An operating-system thread that runs one function and then ends.
struct LoopThread: Sendable {
    /// The values that a new thread needs.
    private final class Start {
        let name: String
        let priority: LoopPriority
        let body: @Sendable () -> Void

        init(name: String, priority: LoopPriority, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.priority = priority
            self.body = body
        }
    }

    private let handle: pthread_t

    /// Starts a thread named `name`; Linux keeps the first 15 bytes of the name.
    ///
    /// The thread blocks SIGPIPE. If the system refuses the priority, the thread runs with its normal priority.
    ///
    /// - Throws: ``TransportError`` if the system has no thread left.
    init(name: String, priority: LoopPriority = .normal, _ body: @escaping @Sendable () -> Void) throws(TransportError)
    {
        let name = String(name.utf8.prefix(15)) ?? "courier"
        let start = Unmanaged.passRetained(Start(name: name, priority: priority, body: body))
        #if canImport(Glibc)
            var made = pthread_t()
        #else
            var made: pthread_t?
        #endif
        let result = pthread_create(&made, nil, { LoopThread.run($0) }, start.toOpaque())
        let handle: pthread_t? = made
        guard result == 0, let handle else {
            start.release()
            throw TransportError.system(result, "no thread could be started")
        }
        self.handle = handle
    }

    /// Runs on the new thread. The argument is optional, because some platforms pass an optional pointer.
    private static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let argument else { return nil }
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        nameCurrent(start.name)
        setPriorityOfCurrent(start.priority)
        blockSignalOfClosedPipes()
        start.body()
        return nil
    }

    /// Waits until the thread has ended. Call either this function or ``detach()``, once.
    func join() { pthread_join(handle, nil) }

    /// Lets the system release the thread when it ends, without a call of `join()`.
    func detach() { pthread_detach(handle) }

    #if canImport(Glibc)
        /// The number of the calling thread. No other living thread has the same number.
        @inline(__always) static var current: UInt { UInt(pthread_self()) }
    #else
        /// The number of the calling thread. No other living thread has the same number.
        @inline(__always) static var current: UInt { UInt(bitPattern: pthread_self()) }
    #endif

    private static func nameCurrent(_ name: String) {
        #if os(Linux)
            LinuxThread.nameCurrent(name)
        #elseif canImport(Darwin)
            pthread_setname_np(name)
        #endif
    }

    private static func setPriorityOfCurrent(_ priority: LoopPriority) {
        #if os(Linux)
            if priority != .normal { LinuxThread.setNicenessOfCurrent(priority.niceness) }
        #elseif canImport(Darwin)
            switch priority {
            case .normal: break
            case .utility: pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0)
            case .background: pthread_set_qos_class_self_np(QOS_CLASS_BACKGROUND, 0)
            }
        #endif
    }

    /// Blocks SIGPIPE for the calling thread. A write to a pipe without a reader then only fails with EPIPE.
    private static func blockSignalOfClosedPipes() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
