import CourierCore

/// What a run must have seen at the least: one in which nothing happens, or nothing arrives, breaks no promise.
///
/// Three minutes on two cores bring forty times the cuts, reconnects and arrivals, and ten times the outages.
struct Floors {
    /// What a run saw.
    struct Seen {
        var cuts = 0
        var reconnects = 0
        var outages = 0
        var traffic: [QoS: Lane.Counts] = [:]
    }

    /// A run of fewer seconds says nothing.
    static let shortestRun = 30
    /// In so many seconds something is cut, and a client connects again.
    static let secondsPerCut = 10
    /// In so many seconds the broker is stopped or killed; in each run it is once. Two outages may be minutes apart
    /// where there is little traffic, as the first has to be forgotten by clients that are cut after so many bytes.
    static let secondsPerOutage = 120
    /// So many messages of each quality of service arrive each second.
    static let arrivalsPerSecond = 10
    /// Of QoS 0, an arrival comes for so many that were sent, to two readers each.
    static let sentPerArrival = 5

    let seconds: Int

    /// Reports what the run has not seen.
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
