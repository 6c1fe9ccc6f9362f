import Foundation

/// Converts a picture to JSON for the page: `{"perSecond":5000,…,"vehicles":[["B0001",0,"65",60.19,24.94,135,60],…]}`.
enum PictureJSON {
    static func text(_ picture: Fleet.Picture) -> String {
        let figures = picture.figures
        var text = """
            {"received":\(figures.received),"missed":\(figures.missed),"perSecond":\(figures.perSecond),\
            "age":\(figures.age),"worstAge":\(figures.worstAge),"vehicles":[
            """
        text.reserveCapacity(picture.vehicles.count * 64)
        var isFirst = true
        for vehicle in picture.vehicles {
            if !isFirst { text += "," }
            isFirst = false
            text += "[\(quoted(vehicle.vehicle)),\(vehicle.mode.rawValue),\(quoted(vehicle.line)),"
            text += "\(vehicle.latitude),\(vehicle.longitude),\(vehicle.heading),\(vehicle.delay)]"
        }
        return text + "]}"
    }

    /// Returns a text as a JSON string. Texts from the network may contain any characters.
    private static func quoted(_ name: String) -> String {
        var text = "\""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x2028 || scalar.value == 0x2029:
                text += String(format: "\\u%04x", scalar.value)
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
