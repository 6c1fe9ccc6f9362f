/// What connections add to the gauges of a logger.
struct ConnectionLoad {
    /// How many are up.
    var open = 0
    /// Exchanges that clients began and that are open; on connections of this process only.
    var own = 0
    /// The same of brokers.
    var peers = 0

    /// Takes in that one connection added `old` and adds `new` now.
    @inline(__always)
    mutating func change(from old: ConnectionLoad, to new: ConnectionLoad) {
        open &+= new.open &- old.open
        own &+= new.own &- old.own
        peers &+= new.peers &- old.peers
    }
}
