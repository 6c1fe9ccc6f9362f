import CommandArguments
import CourierCore
import CourierMQTT
import Foundation

/// The clients of a bench run with their client ids, topics and topic filters.
struct LoadPlan: Sendable {
    /// The maximum length of a client id, because every broker accepts client ids of this length. [MQTT-3.1.3-5]
    static let clientIDLimit = 23

    /// The prefix of the client ids and of the default topic. It is random, because a process id is not unique across
    /// machines.
    let name: String
    /// The topic of each publisher.
    let topics: [String]
    /// The filter of each subscriber.
    let filters: [TopicFilter]

    /// Plans the clients of a run.
    ///
    /// - Parameters:
    ///   - settings: The checked options.
    ///   - name: The prefix of the client ids; random by default.
    /// - Throws: ``ArgumentError`` if no filter matches the topic of a publisher.
    init(_ settings: BenchArguments, name: String = LoadPlan.randomName) throws(ArgumentError) {
        self.name = name
        let topic = settings.topic ?? ClientTemplate(exactly: "\(name)/load")
        let filter = settings.filter ?? topic
        topics = (0..<settings.publishers).map { index in
            topic.text(number: index + 1, clientID: Self.clientID(name, .publisher, index))
        }
        var filters: [TopicFilter] = []
        for index in 0..<settings.subscribers {
            let text = filter.text(number: index + 1, clientID: Self.clientID(name, .subscriber, index))
            do throws(CourierError) { filters.append(try TopicFilter(text)) } catch {
                throw ArgumentError(error.message)
            }
        }
        self.filters = filters
        guard !topics.isEmpty, !filters.isEmpty, copies(for: filters.indices).allSatisfy({ $0 == 0 }) else { return }
        throw ArgumentError(
            "No message would arrive: the filter '\(filter.text)' matches no topic of '\(topic.text)'.",
            hint: "Change --filter or --topic, or use --subscribers 0.")
    }

    /// A random prefix for client ids.
    static var randomName: String { "bench-\(UUID().uuidString.prefix(8).lowercased())" }

    /// Returns the client id of a client.
    ///
    /// - Parameters:
    ///   - role: The role of the client.
    ///   - index: The index of the client among the clients with its role.
    /// - Returns: The client id.
    func clientID(_ role: BenchClient.Role, _ index: Int) -> String { Self.clientID(name, role, index) }

    private static func clientID(_ name: String, _ role: BenchClient.Role, _ index: Int) -> String {
        "\(name)\(role == .publisher ? "p" : "s")\(index + 1)"
    }

    /// Returns which client makes an attempt to connect.
    ///
    /// Publishers and subscribers take turns. If the broker accepts only some of the connections, both roles thus have
    /// connections.
    ///
    /// - Parameter attempt: The number of the attempt, counted from 0.
    /// - Returns: The role of the client, and its index among the clients with this role.
    func client(of attempt: Int) -> (role: BenchClient.Role, index: Int) {
        let count = topics.count + filters.count
        let publishersBefore = attempt * topics.count / count
        let isPublisher = (attempt + 1) * topics.count / count > publishersBefore
        return isPublisher ? (.publisher, publishersBefore) : (.subscriber, attempt - publishersBefore)
    }

    /// Returns one number for each publisher: the number of copies that the broker delivers of each of its messages.
    ///
    /// If several subscribers have the same shared subscription, the broker delivers only one copy to them.
    ///
    /// - Parameter subscribers: The indexes of the subscribers that are subscribed.
    /// - Returns: The number of copies for each publisher.
    func copies(for subscribers: some Sequence<Int>) -> [Int] {
        // Equal filters share one entry of the topic tree. So the look-up of a topic is fast even if all subscribers
        // have the same filter.
        var numbers: [TopicFilter: Int] = [:]
        var weights: [Int] = []
        var tree = TopicTree()
        for subscriber in subscribers {
            let filter = filters[subscriber]
            if let number = numbers[filter] {
                if filter.shareGroup == nil { weights[number] += 1 }
            } else {
                tree.insert(filter, for: weights.count)
                numbers[filter] = weights.count
                weights.append(1)
            }
        }
        var last: (topic: String, count: Int)?
        return topics.map { topic in
            if let last, last.topic == topic { return last.count }
            var count = 0
            topic.withUTF8Bytes { topic in tree.forEachMatch(of: topic) { count += weights[$0] } }
            last = (topic, count)
            return count
        }
    }
}
