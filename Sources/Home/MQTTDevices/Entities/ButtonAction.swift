/// An action with a button.
public enum ButtonGesture: Sendable, Hashable {
    /// It was pressed once.
    case press
    /// It was pressed this many times in a row, at least twice.
    case presses(Int)
    /// Somebody keeps pressing it.
    case hold
    /// It was released after a short press.
    case release
    /// It was released after a long press.
    case releaseAfterHold
}

/// The name of an action, such as `single` or `button_1_hold`: what was done, and with which of the device's buttons.
/// These names are not standardized. Most devices that Zigbee2MQTT supports use them.
struct ButtonAction: Sendable, Hashable {
    /// The name of the button; empty for the only one.
    let button: String
    /// The action.
    let gesture: ButtonGesture

    /// Reads a name. One without a known word, such as `on` or `brightness_step_up`, is a button of its own.
    init(_ name: String) {
        let words = name.split(separator: "_").map(String.init)
        for length in stride(from: min(2, words.count), through: 1, by: -1) {
            if let gesture = Self.gestures[words.suffix(length).joined(separator: "_")] {
                self.init(button: words.dropLast(length).joined(separator: "_"), gesture: gesture)
                return
            }
            if let gesture = Self.gestures[words.prefix(length).joined(separator: "_")] {
                self.init(button: words.dropFirst(length).joined(separator: "_"), gesture: gesture)
                return
            }
        }
        self.init(button: name, gesture: .press)
    }

    private init(button: String, gesture: ButtonGesture) {
        self.button = button
        self.gesture = gesture
    }

    private static let gestures: [String: ButtonGesture] = [
        "single": .press, "press": .press, "pressed": .press, "click": .press, "short_press": .press,
        "double": .presses(2), "double_press": .presses(2), "double_click": .presses(2),
        "triple": .presses(3), "triple_press": .presses(3), "triple_click": .presses(3),
        "quadruple": .presses(4), "quintuple": .presses(5),
        "hold": .hold, "long": .hold, "long_press": .hold, "long_click": .hold,
        "press_release": .release, "short_release": .release,
        "release": .releaseAfterHold, "hold_release": .releaseAfterHold, "long_release": .releaseAfterHold,
    ]
}
