/// One entry in a room.
struct ChatEntry: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// A message of a person.
        case speech(person: String, name: String)
        /// An action of a person, such as `/me waves`.
        case action(person: String, name: String)
        /// A notice of this program.
        case notice
        /// An error message of this program.
        case problem
    }

    /// The delivery state of a line that this user has sent.
    enum Delivery: Hashable, Sendable {
        /// The broker has acknowledged the line, or another person has sent it.
        case done
        /// The broker has not acknowledged the line yet.
        case pending
        case failed(String)
    }

    /// The number of the entry in its room. Later entries have higher numbers.
    var number = 0
    let kind: Kind
    let text: String
    let time: WallTime
    /// The message id of a line that this user has sent; otherwise `nil`.
    var messageID: String?
    var delivery = Delivery.done

    /// The text to print if there is no screen.
    func line(in room: ChatName?) -> String {
        let place = room.map { "[\($0.text)] " } ?? ""
        let body =
            switch kind {
            case .speech(_, let name): "\(name): \(text)"
            case .action(_, let name): "* \(name) \(text)"
            case .notice, .problem: "-- \(text)"
            }
        return GlyphText(place + body).string
    }
}
