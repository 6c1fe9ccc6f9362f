import MQTTCodec

/// The actions of an engine in their order, kept so that the frequent ones cost a few bytes each.
///
/// It is a collection of ``EngineAction``. Whoever handles thousands goes through ``entries`` instead, which tells progress
/// and messages apart from what is rare without making an action of each:
///
/// ```swift
/// for entry in actions.entries {
///     switch entry {
///     case .progress(let progress): note(progress)
///     case .message(let index): deliver(actions.messages[index])
///     case .rare(let index): perform(actions.rare[index])
///     }
/// }
/// actions.removeAll()
/// ```
public struct ActionList: Sendable {
    /// One action, or where it stands.
    public enum Entry: Hashable, Sendable {
        /// A step in the delivery of a message.
        case progress(ExchangeProgress)
        /// A message has arrived, in ``ActionList/messages`` at this index.
        case message(Int)
        /// Something else, in ``ActionList/rare`` at this index.
        case rare(Int)
    }

    /// All actions in their order.
    public private(set) var entries: [Entry] = []
    /// The messages that have arrived.
    public private(set) var messages: [IncomingMessage] = []
    /// The actions that are neither progress nor messages.
    public private(set) var rare: [EngineAction] = []

    /// Makes an empty list.
    public init() {}

    /// Takes all actions away and keeps the memory of those that are frequent.
    public mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        if !messages.isEmpty { messages.removeAll(keepingCapacity: true) }
        if !rare.isEmpty { rare = [] }
    }

    /// Gives the memory back if the list is empty and has room for more than `limit` actions.
    public mutating func trim(above limit: Int) {
        if entries.isEmpty, entries.capacity > limit || messages.capacity > limit { self = ActionList() }
    }

    @inline(__always)
    mutating func append(_ progress: ExchangeProgress) { entries.append(.progress(progress)) }

    @inline(__always)
    mutating func append(_ message: IncomingMessage) {
        entries.append(.message(messages.count))
        messages.append(message)
    }

    mutating func append(_ action: EngineAction) {
        if let progress = action.progress {
            append(progress)
        } else if case .message(let message) = action {
            append(message)
        } else {
            entries.append(.rare(rare.count))
            rare.append(action)
        }
    }
}

extension ActionList: RandomAccessCollection {
    /// The first index.
    public var startIndex: Int { 0 }
    /// The index behind the last.
    public var endIndex: Int { entries.count }

    /// The action at `position`.
    public subscript(position: Int) -> EngineAction {
        switch entries[position] {
        case .progress(let progress): EngineAction(progress)
        case .message(let index): .message(messages[index])
        case .rare(let index): rare[index]
        }
    }
}
