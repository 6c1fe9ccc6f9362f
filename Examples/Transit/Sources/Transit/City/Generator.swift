import CourierMQTT
import Foundation

/// Publishes the messages of the city's vehicles at a steady rate.
actor Generator {
    /// The interval at which due messages are sent. All messages of one group have the same time stamp.
    private static let groupTime = Duration.milliseconds(5)

    private let client: any CourierClient
    private let rate: Double
    private let pace: Double
    private var rides: [Ride]
    private(set) var sentCount = 0

    init(_ city: City, _ settings: Settings, client: any CourierClient) {
        self.client = client
        rate = settings.rate
        pace = settings.pace
        rides = city.vehicles(count: settings.vehicleCount)
    }

    /// Runs until the task is cancelled.
    func run() async throws {
        client.connect()
        try await client.connected()
        let clock = ContinuousClock()
        var start = clock.now
        var sent = 0
        // The vehicles send in turn, so the time between two messages of one vehicle is constant.
        let step = Double(rides.count) / rate * pace
        while true {
            let due = Int((clock.now - start) / .seconds(1) * rate)
            if due - sent > Int(rate) {
                // The generator is more than one second late. It skips the late messages instead of sending all of them
                // at once.
                start = clock.now
                sent = 0
                continue
            }
            let time = MessageTime(Date())
            while sent < due {
                let place = sentCount % rides.count
                rides[place].advance(by: step)
                try await send(rides[place], time)
                sent += 1
                sentCount += 1
            }
            try await Task.sleep(for: Self.groupTime)
        }
    }

    private func send(_ ride: Ride, _ time: MessageTime) async throws {
        do {
            try client.publish(text: ride.message(time), to: ride.topic, qos: .zero)
        } catch let error as CourierError where error.code == .queueFull {
            try await client.readyToPublish()  // The broker is too slow, so this message is left out.
        } catch let error as CourierError where error.code == .connectionLost {
            try await client.connected()  // The client reconnects by itself. This message is left out, too.
        }
    }
}
