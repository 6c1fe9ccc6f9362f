/// The priority of a loop's thread relative to other threads of the operating system.
public enum LoopPriority: Hashable, Sendable {
    /// The same priority as other threads.
    case normal
    /// A lower priority: for connections whose messages may arrive a little later when the machine is busy.
    case utility
    /// The lowest priority: for connections that must not slow down other work.
    case background

    /// The thread's nice value, as Linux counts it. A higher value means that the thread yields more to others.
    var niceness: Int32 {
        switch self {
        case .normal: 0
        case .utility: 5
        case .background: 15
        }
    }
}
