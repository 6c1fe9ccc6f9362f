/// A line of the file in which the worker notes what happened to a message. The file survives the worker.
struct JobNote: Hashable, Sendable {
    enum Event: String, Sendable {
        /// A new process found the job of the message in the store.
        case found
        /// A new process found the parked message in the store.
        case foundParked
        /// The message has arrived, and its job is being stored.
        case storing
        /// The handler has handled the message. The handler notes this itself, before it returns.
        case handled
        /// The store has removed the job of a handled message.
        case recorded
        /// The store has recorded that the message is parked.
        case parked
    }

    /// The number of the worker process.
    let life: Int
    let event: Event
    let message: JobMessage
    /// The packet id of a QoS 2 message that is being stored; otherwise 0.
    let packetID: UInt16

    init(_ event: Event, _ message: JobMessage, life: Int, packetID: UInt16 = 0) {
        self.life = life
        self.event = event
        self.message = message
        self.packetID = packetID
    }

    init?(line: some StringProtocol) {
        let words = line.split(separator: " ")
        guard words.count == 5, let life = Int(words[0]), let event = Event(rawValue: String(words[1])),
            let lane = Int(words[2]), JobLane.all.indices.contains(lane), let number = Int(words[3]),
            let packetID = UInt16(words[4])
        else { return nil }
        self.init(event, JobMessage(lane: JobLane.all[lane], number: number), life: life, packetID: packetID)
    }

    var line: String { "\(life) \(event.rawValue) \(message.lane.id) \(message.number) \(packetID)" }
}
