import CourierCore

/// The minimum counts that a run must reach. A run without outages or messages breaks no promise, so it proves nothing.
///
/// In three minutes on two cores, a run reaches forty times the minimum of cuts, reconnects and arrivals, and ten times
/// the minimum of outages.
struct Floors {
    /// The counts that a run reached.
    struct Seen {
        var cuts = 0
        var reconnects = 0
        var outages = 0
        var traffic: [QoS: Lane.Counts] = [:]
    }

    /// A run of fewer seconds is not checked.
    static let shortestRun = 30
    /// At least one cut and one reconnect must happen in this many seconds.
    static let secondsPerCut = 10
    /// At least one stop or kill of the broker must happen in this many seconds, and one in every run. With little
    /// traffic, two outages can be minutes apart: the next one waits until each suspicious client has lost an older
    /// connection, and a cut needs traffic.
    static let secondsPerOutage = 120
    /// At least this many messages of each QoS must arrive per second.
    static let arrivalsPerSecond = 10
    /// At least one QoS 0 message must arrive for this many that were sent. Each message is sent to two readers.
    static let sentPerArrival = 5

    let seconds: Int

    /// Reports each count that is below its minimum.
    func judge(_ seen: Seen, _ verdict: Verdict) {
        guard seconds >= Self.shortestRun else { return }
        func require(_ floor: Int, _ what: String, in count: Int) {
            guard count < floor else { return }
            verdict.violation("the run saw \(count) \(what) in \(seconds) s, and must see \(floor) at least")
        }
        require(seconds / Self.secondsPerCut, "cuts", in: seen.cuts)
        require(seconds / Self.secondsPerCut, "reconnects", in: seen.reconnects)
        require(max(1, seconds / Self.secondsPerOutage), "stops and kills of the broker", in: seen.outages)
        for qos in ChaosClient.qualities {
            let received = seen.traffic[qos]?.received ?? 0
            require(seconds * Self.arrivalsPerSecond, "arrivals of QoS \(qos.rawValue)", in: received)
        }
        let fleeting = seen.traffic[.zero] ?? Lane.Counts()
        require(
            fleeting.acknowledged / Self.sentPerArrival, "arrivals of \(fleeting.acknowledged) sent messages of QoS 0",
            in: fleeting.received)
    }
}
