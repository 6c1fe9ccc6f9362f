/// The priority of a loop's thread relative to other threads of the operating system.
public enum LoopPriority: Hashable, Sendable {
    /// Connections have the same priority as other threads.
    case normal
    /// Connections have a lower priority. Their messages may arrive a little later when the machine is busy.
    case utility
    /// Connections have the lowest priority, so that they do not slow down other work.
    case background

    /// The thread's nice value on Linux. A thread with a higher value leaves more processor time to other threads.
    var niceness: Int32 {
        switch self {
        case .normal: 0
        case .utility: 5
        case .background: 15
        }
    }
}
