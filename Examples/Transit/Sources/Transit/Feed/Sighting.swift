import Foundation

/// A vehicle as one message tells of it.
struct Sighting: Sendable {
    /// The operator's name of the vehicle.
    let vehicle: String
    let mode: Mode
    /// The line as passengers know it.
    let line: String
    let latitude: Double
    let longitude: Double
    /// Degrees from north, clockwise.
    let heading: Int
    /// Seconds behind the timetable.
    let delay: Int
    /// When the vehicle was there.
    let time: Timestamp
}

extension Sighting {
    /// The message as it is written: `{"VP":{"desi":"I","lat":60.2,"long":24.9,…}}`. More is in it than is drawn.
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
