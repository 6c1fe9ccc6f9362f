import MQTTCodec

/// The actions of an engine in their order. The frequent actions take only a few bytes each.
///
/// The list is a collection of ``EngineAction``. Code that handles thousands of actions should iterate over
/// ``entries``, because this collection creates no ``EngineAction`` for progress and messages:
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
    /// One action, or the index of an action in another list.
    public enum Entry: Hashable, Sendable {
        /// A step in the delivery of a message.
        case progress(ExchangeProgress)
        /// A received message: the element of ``ActionList/messages`` at this index.
        case message(Int)
        /// Any other action: the element of ``ActionList/rare`` at this index.
        case rare(Int)
    }

    /// All actions in their order.
    public private(set) var entries: [Entry] = []
    /// The messages that arrived.
    public private(set) var messages: [IncomingMessage] = []
    /// The actions that are neither progress nor messages.
    public private(set) var rare: [EngineAction] = []

    /// Makes an empty list.
    public init() {}

    /// Removes all actions. Keeps the memory of the frequent actions for later actions.
    public mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        if !messages.isEmpty { messages.removeAll(keepingCapacity: true) }
        if !rare.isEmpty { rare = [] }
    }

    /// Frees the memory of the list if the list is empty and has room for more than `limit` actions.
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
    /// The index of the first action.
    public var startIndex: Int { 0 }
    /// The index after the last action.
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
