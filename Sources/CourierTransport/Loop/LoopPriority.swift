/// How much a loop's thread matters to the operating system beside other threads: the quality of service of reading.
public enum LoopPriority: Hashable, Sendable {
    /// As much as any other thread.
    case normal
    /// Less: for connections whose messages may come a little later when the machine is busy.
    case utility
    /// Least: for connections that must not slow anything else down.
    case background

    /// By how much the thread yields to others, as the system counts it.
    var niceness: Int32 {
        switch self {
        case .normal: 0
        case .utility: 5
        case .background: 15
        }
    }
}
