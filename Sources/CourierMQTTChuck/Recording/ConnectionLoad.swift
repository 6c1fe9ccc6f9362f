/// The numbers of open connections and of open exchanges, for one connection or for all connections together.
struct ConnectionLoad {
    /// The number of open connections.
    var open = 0
    /// The number of open exchanges that clients began. Connections from a file do not count.
    var own = 0
    /// The number of open exchanges that brokers began. Connections from a file do not count.
    var peers = 0

    /// Replaces the earlier load of one connection with its new load.
    @inline(__always)
    mutating func change(from old: ConnectionLoad, to new: ConnectionLoad) {
        open &+= new.open &- old.open
        own &+= new.own &- old.own
        peers &+= new.peers &- old.peers
    }
}
