import MQTTCodec

/// The topic aliases that the client uses on one connection. Fixed aliases come from the configuration. The engine
/// assigns the other aliases to topics when they are needed. If all aliases are in use, a new topic replaces the least
/// recently used topic.
struct OutgoingAliases {
    /// Selects whether a PUBLISH carries the topic name, a topic alias, or both.
    enum Use: Equatable {
        /// The topic name alone.
        case none
        /// The topic name and an alias, which replaces the topic name in later packets.
        case define(UInt16)
        /// The alias alone.
        case replace(UInt16)
    }

    private let limit: Int
    /// The topics in the order of their last use; the most recently used topic is last. A search is fast, because the
    /// list has at most ``limit`` topics.
    private var recent: [(topic: [UInt8], alias: UInt16)] = []
    /// The topics with an alias from the configuration, and whether each alias was sent to the server together with its
    /// topic.
    private var fixed: [(topic: [UInt8], alias: UInt16, isDefined: Bool)]

    /// Makes the aliases of a connection.
    ///
    /// - Parameters:
    /// - limit: The maximum number of aliases in addition to the fixed aliases.
    /// - maximum: The largest alias that the server allows ([MQTT-3.3.2-9]).
    /// - fixed: The fixed aliases. Aliases that the server does not allow are not used.
    init(limit: Int, maximum: UInt16 = .max, fixed: [String: UInt16] = [:]) {
        self.fixed = fixed.filter { $0.value > 0 && $0.value <= maximum }
            .map { (Array($0.key.utf8), $0.value, false) }
        self.limit = min(limit, Int(maximum) - self.fixed.count)
    }

    /// Returns how a PUBLISH to `topic` uses aliases.
    ///
    /// Topics are compared as bytes, because Swift compares text by canonical equivalence. An empty topic name gets no
    /// alias, because the server would use the earlier topic of the alias.
    @inline(__always)
    mutating func use(for topic: UnsafeRawBufferPointer) -> Use {
        (limit > 0 || !fixed.isEmpty) && !topic.isEmpty ? search(topic) : .none
    }

    private mutating func search(_ topic: UnsafeRawBufferPointer) -> Use {
        if let index = fixed.firstIndex(where: { $0.topic.isSame(as: topic) }) {
            defer { fixed[index].isDefined = true }
            return fixed[index].isDefined ? .replace(fixed[index].alias) : .define(fixed[index].alias)
        }
        guard limit > 0 else { return .none }
        if let index = recent.lastIndex(where: { $0.topic.isSame(as: topic) }) {
            let alias = recent[index].alias
            if index != recent.count - 1 { recent.append(recent.remove(at: index)) }
            return .replace(alias)
        }
        let alias = recent.count < limit ? unusedAlias : recent.removeFirst().alias
        recent.append((Array(topic), alias))
        return .define(alias)
    }

    /// The lowest alias without a topic. New topics get aliases in ascending order, but never an alias of the
    /// configuration.
    private var unusedAlias: UInt16 {
        var alias = UInt16(recent.count + 1)
        guard !fixed.isEmpty else { return alias }
        alias = (recent.map { $0.alias }.max() ?? 0) + 1
        while fixed.contains(where: { $0.alias == alias }) { alias += 1 }
        return alias
    }

    /// Forgets `alias`, because the packet that should define it could not be written.
    mutating func forget(_ alias: UInt16) {
        if let index = fixed.firstIndex(where: { $0.alias == alias }) {
            fixed[index].isDefined = false
            return
        }
        guard let index = recent.firstIndex(where: { $0.alias == alias }) else { return }
        // Replace the topic by the empty topic, which matches no message, and keep the freed alias in the list. The
        // next new alias is computed from the length of the list, so the length must not change. At index 0, the freed
        // alias is the first alias that a new topic gets.
        let entry = recent.remove(at: index)
        recent.insert(([], entry.alias), at: 0)
    }
}

extension [UInt8] {
    fileprivate func isSame(as bytes: UnsafeRawBufferPointer) -> Bool {
        count == bytes.count && withUnsafeBytes { $0.elementsEqual(bytes) }
    }
}

/// The aliases that the server uses on one connection.
struct IncomingAliases {
    private let maximum: UInt16
    /// The topic of each alias, at index `alias - 1`. The length is the highest alias that was defined.
    private var topics: [[UInt8]?] = []

    init(maximum: UInt16) { self.maximum = maximum }

    /// Returns true if the server may use `alias` ([MQTT-3.3.2-10]).
    func allows(_ alias: UInt16) -> Bool { alias >= 1 && alias <= maximum }

    /// Defines `alias` as an alias of `topic`. The alias must be allowed.
    mutating func define(_ alias: UInt16, _ topic: [UInt8]) {
        while topics.count < Int(alias) { topics.append(nil) }
        topics[Int(alias) - 1] = topic
    }

    /// Returns the topic of `alias`, or `nil` if the alias is not defined.
    func topic(of alias: UInt16) -> [UInt8]? {
        guard alias >= 1, Int(alias) <= topics.count else { return nil }
        return topics[Int(alias) - 1]
    }
}
