import CourierMQTT
import Foundation

/// Decodes sightings from the JSON of the feed, and takes the kind of vehicle from the topic `/hfp/journey/KIND/…`.
struct SightingAdapter: MessageAdapter {
    private let json = JSONMessageAdapter()

    var contentType: String { json.contentType }

    func fromMessage<T>(_ message: Data, topic: String) throws -> T {
        let payload: Sighting.Payload = try json.fromMessage(message, topic: topic)
        let position = payload.position
        guard let time = Timestamp(position.time) else {
            throw CourierError(.decodingFailed, "tst is no time of the form 2017-06-04T19:21:20.000Z")
        }
        guard abs(position.latitude) <= 90, abs(position.longitude) <= 180 else {
            throw CourierError(.decodingFailed, "lat and long are no place on earth")
        }
        let levels = topic.split(separator: "/", maxSplits: 3)
        let sighting = Sighting(
            vehicle: position.vehicle, mode: Mode(levels.count > 2 ? levels[2] : ""), line: position.line,
            latitude: position.latitude, longitude: position.longitude, heading: position.heading ?? 0,
            delay: position.delay ?? 0, time: time)
        guard let value = sighting as? T else { throw CourierError(.decodingFailed, "\(T.self) is no Sighting") }
        return value
    }

    func toMessage<T>(data: T, topic: String) throws -> Data {
        throw CourierError(.encodingFailed, "sightings are read only")
    }
}
