import Foundation

/// The position of a vehicle, as reported in one message.
struct Sighting: Sendable {
    /// The operator's identifier of the vehicle.
    let vehicle: String
    let mode: Mode
    /// The public name of the line.
    let line: String
    let latitude: Double
    let longitude: Double
    /// The direction of travel in degrees from north, clockwise.
    let heading: Int
    /// The delay against the timetable in seconds.
    let delay: Int
    /// The time when the vehicle was at this position.
    let time: Timestamp
}

extension Sighting {
    /// The JSON structure of a message: `{"VP":{"desi":"I","lat":60.2,"long":24.9,…}}`. Members that the map does not
    /// need are ignored.
    struct Payload: Decodable {
        struct Position: Decodable {
            let vehicle: String
            let line: String
            let latitude: Double
            let longitude: Double
            let heading: Int?
            let delay: Int?
            let time: String

            enum CodingKeys: String, CodingKey {
                case vehicle = "veh"
                case line = "desi"
                case latitude = "lat"
                case longitude = "long"
                case heading = "hdg"
                case delay = "dl"
                case time = "tst"
            }
        }

        let position: Position

        enum CodingKeys: String, CodingKey { case position = "VP" }
    }
}
