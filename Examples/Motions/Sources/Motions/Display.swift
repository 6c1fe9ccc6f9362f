import CourierMQTT
import Foundation

/// Shows devices. On a terminal, each device has its own lines, which are updated in place and have the color of the
/// alert. Elsewhere, one line is printed for each event.
@MainActor final class Display {
    /// The time for which a device has the color of an alert.
    static let alertTime = Duration.seconds(2)
    /// The maximum number of devices that are shown. The limit is needed because any publisher can invent device ids.
    static let maximumDevices = 100

    private struct Device {
        var attitude: Attitude?
        var color: AlertColor?
        /// Removes the color after ``alertTime``.
        var restoring: Task<Void, any Error>?
    }

    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private let heading: String
    private var devices: [String: Device] = [:]
    private var order: [String] = []
    private var leavesOut = false
    private var note = ""

    init(heading: String) { self.heading = heading }

    func open() {
        guard isTerminal else { return write(heading + "\n") }
        // Switch to the alternate screen, hide the cursor, and turn off line wrap.
        write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l")
        draw()
    }

    func close() {
        for device in devices.values { device.restoring?.cancel() }
        if isTerminal { write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l") }
    }

    /// Shows a text about the connection.
    func tell(_ text: String) {
        note = text
        show(text)
    }

    /// Shows connection failures and the next success of a client, until the returned value is released.
    func follow(_ client: any CourierClient) -> AnyCancellable {
        var isCutOff = false
        return client.eventPublisher.sink { event in
            switch event.type {
            case .connectionFailure(_, let error?), .connectionLost(_, let error?, _, _):
                isCutOff = true
                self.tell("not connected: \(error)")
            case .connectionSuccess where isCutOff:
                isCutOff = false
                self.tell("connected again")
            default: break
            }
        }
    }

    func moved(_ motion: Motion) {
        guard hasPlace(for: motion.deviceID) else { return }
        change(motion.deviceID) { $0.attitude = motion.attitude }
        show("\(Self.shown(motion.deviceID))  \(Self.text(motion.attitude))")
    }

    /// Shows the color of an alert on a device for ``alertTime``. A later alert replaces an earlier one.
    func alerted(_ deviceID: String, _ color: AlertColor) {
        guard hasPlace(for: deviceID) else { return }
        change(deviceID) { device in
            device.restoring?.cancel()
            device.color = color
            device.restoring = Task {
                try await Task.sleep(for: Self.alertTime)
                self.change(deviceID) { $0.color = nil }
                self.show("\(Self.shown(deviceID))  has its own colour again")
            }
        }
        show("\(Self.shown(deviceID))  turns \(color.rawValue)")
    }

    private func hasPlace(for deviceID: String) -> Bool {
        if devices[deviceID] != nil || devices.count < Self.maximumDevices { return true }
        if !leavesOut { tell("there are more than \(Self.maximumDevices) devices; the others are left out") }
        leavesOut = true
        return false
    }

    private func change(_ deviceID: String, _ change: (inout Device) -> Void) {
        if devices[deviceID] == nil { order.append(deviceID) }
        change(&devices[deviceID, default: Device()])
    }

    /// On a terminal, draws the screen again. Elsewhere, prints the line.
    private func show(_ line: String) {
        if isTerminal { draw() } else { write(line + "\n") }
    }

    private func draw() {
        var screen = "\u{1B}[H"
        func add(_ line: String) { screen += line + "\u{1B}[K\u{1B}[0m\r\n" }
        add(heading)
        add(note)
        add("")
        for deviceID in order {
            guard let device = devices[deviceID] else { continue }
            // `add` erases the rest of the line with the current background color, so the whole line gets the color of
            // the alert.
            add((device.color?.escapeSequence ?? "") + "  " + Self.shown(deviceID))
            add((device.color?.escapeSequence ?? "") + "  " + (device.attitude.map(Self.text) ?? ""))
            add("")
        }
        write(screen + "\u{1B}[J")
    }

    /// Returns the device id without control characters, because these could send commands to the terminal.
    private static func shown(_ deviceID: String) -> String {
        String(String.UnicodeScalarView(deviceID.unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }

    private static func text(_ attitude: Attitude) -> String {
        func degrees(_ radians: Double) -> String { String(format: "%4.0f°", radians * 180 / .pi) }
        return "pitch: \(degrees(attitude.pitch))  roll: \(degrees(attitude.roll))  yaw: \(degrees(attitude.yaw))"
    }

    /// Writes text without the buffer of `print`, so that it is visible at once, even through a pipe.
    private func write(_ text: String) { try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8)) }
}
