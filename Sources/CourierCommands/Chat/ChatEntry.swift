/// One thing that can be read in a room.
struct ChatEntry: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// Somebody said it.
        case speech(person: String, name: String)
        /// Somebody does it.
        case action(person: String, name: String)
        /// What happened, told by this program.
        case notice
        /// What went wrong.
        case problem
    }

    /// How far a line of one's own is on its way.
    enum Delivery: Hashable, Sendable {
        /// It was not written here, or the broker has it.
        case done
        /// The broker has not acknowledged it.
        case pending
        case failed(String)
    }

    /// Counts up within a room.
    var number = 0
    let kind: Kind
    let text: String
    let time: WallTime
    /// The message's, for lines of one's own.
    var messageID: String?
    var delivery = Delivery.done

    /// The line that is printed where there is no screen.
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
