import CourierMQTT

/// All vehicles in the feed, each with its last known position.
actor Fleet {
    /// The maximum number of vehicles. Messages from further vehicles are counted as missed and ignored.
    static let limit = 20_000
    /// The maximum number of unread messages. When it is reached, the oldest are dropped, because newer messages are
    /// about the same vehicles.
    private static let bufferLimit = 16_384

    /// The data to draw.
    struct Picture: Sendable {
        var vehicles: [Sighting] = []
        var figures = FeedMeter.Figures()
    }

    private var vehicles: [Sighting] = []
    private var places: [String: Int] = [:]
    private var meter = FeedMeter()
    /// The reason why the last missed message was missed.
    private var lastReason: String?

    /// Reads the feed until the task is cancelled.
    func follow(_ topic: String, of client: any CourierClient) async throws {
        let buffer = ReadBuffer(limit: Self.bufferLimit, overflow: .dropOldest)
        for try await sighting in client.messages(Sighting.self, from: topic, qos: .zero, buffer: buffer) {
            meter.received(now: .now, sentAt: sighting.time)
            update(sighting)
        }
    }

    /// Counts the messages that cannot be decoded, until the task is cancelled.
    func countUnreadable(of client: any CourierClient) async {
        for await letter in client.deadLetters { missed(letter.error.message) }
    }

    /// Returns the data to draw now.
    func picture() -> Picture { Picture(vehicles: vehicles, figures: meter.figures(now: .now)) }

    private func update(_ sighting: Sighting) {
        if let place = places[sighting.vehicle] {
            vehicles[place] = sighting
        } else if vehicles.count < Self.limit {
            places[sighting.vehicle] = vehicles.count
            vehicles.append(sighting)
        } else {
            missed("There are more than \(Self.limit) vehicles.")
        }
    }

    private func missed(_ reason: String) {
        meter.missed()
        lastReason = reason
    }
}

extension Fleet {
    /// Returns a summary of the whole run as text.
    func summary() -> String {
        let figures = meter.figures(now: .now)
        return "\(Text.grouped(figures.received)) messages of \(Text.grouped(vehicles.count)) vehicles, "
            + "\(Text.grouped(figures.missed)) missed; behind by \(meter.age(ofPart: 0.5)) ms (median), "
            + "\(meter.age(ofPart: 0.99)) ms (99 %), \(meter.age(ofPart: 1)) ms (worst)"
            + (lastReason.map { "\nmissed: \($0)" } ?? "")
    }
}
