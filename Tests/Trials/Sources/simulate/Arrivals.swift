/// Checks the order and the number of arrived messages.
enum Arrivals {
    /// Checks that messages of one topic and QoS first arrive in the order in which they were published
    /// ([MQTT-4.6.0-5]).
    static func check(_ arrivals: [Int], _ direction: String, _ line: (Int) -> String) throws(Broken) {
        var seen: Set<Int> = []
        var last: [String: Int] = [:]
        for serial in arrivals where seen.insert(serial).inserted {
            if let before = last[line(serial)], before > serial {
                throw Broken("\(direction): message \(serial) after \(before)")
            }
            last[line(serial)] = serial
        }
    }

    /// Checks that the server's messages arrived as often as their QoS promises. If a session is lost, QoS 2 messages
    /// may repeat.
    static func check(_ received: [Int], of count: Int, sessionsLost: Int) throws(Broken) {
        var counts = [Int](repeating: 0, count: count)
        for serial in received { counts[serial] += 1 }
        for serial in 0..<count {
            switch serial % 3 {
            case 0: if counts[serial] > 1 { throw Broken("QoS 0 message \(serial) arrived \(counts[serial]) times") }
            case 1: if counts[serial] == 0 { throw Broken("QoS 1 message \(serial) did not arrive") }
            default:
                if counts[serial] == 0 { throw Broken("QoS 2 message \(serial) did not arrive") }
                if counts[serial] > 1 + sessionsLost {
                    throw Broken("QoS 2 message \(serial) arrived \(counts[serial]) times")
                }
            }
        }
    }
}
