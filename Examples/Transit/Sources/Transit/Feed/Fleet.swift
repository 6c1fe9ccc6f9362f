import CourierMQTT

/// All vehicles that the feed has told of, each where it was seen last.
actor Fleet {
    /// How many vehicles are known at most; those that come then are counted and left out.
    static let limit = 20_000
    /// How many messages may wait to be read. The oldest are dropped then, as newer ones tell of the same vehicles.
    private static let bufferLimit = 16_384

    /// What there is to draw.
    struct Picture: Sendable {
        var vehicles: [Sighting] = []
        var figures = FeedMeter.Figures()
    }

    private var vehicles: [Sighting] = []
    private var places: [String: Int] = [:]
    private var meter = FeedMeter()
    /// Why a message was missed.
    private var lastReason: String?

    /// Reads the feed until the task is cancelled.
    func follow(_ topic: String, of client: any CourierClient) async throws {
        let buffer = ReadBuffer(limit: Self.bufferLimit, overflow: .dropOldest)
        for try await sighting in client.messages(Sighting.self, from: topic, qos: .zero, buffer: buffer) {
            meter.received(now: .now, sentAt: sighting.time)
            update(sighting)
        }
    }

    /// Counts the messages that are no sightings, until the task is cancelled.
    func countUnreadable(of client: any CourierClient) async {
        for await letter in client.deadLetters { missed(letter.error.message) }
    }

    /// What there is to draw now.
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
    /// What came of it all, in words.
    func summary() -> String {
        let figures = meter.figures(now: .now)
        return "\(Text.grouped(figures.received)) messages of \(Text.grouped(vehicles.count)) vehicles, "
            + "\(Text.grouped(figures.missed)) missed; behind by \(meter.age(ofPart: 0.5)) ms (median), "
            + "\(meter.age(ofPart: 0.99)) ms (99 %), \(meter.age(ofPart: 1)) ms (worst)"
            + (lastReason.map { "\nmissed: \($0)" } ?? "")
    }
}
