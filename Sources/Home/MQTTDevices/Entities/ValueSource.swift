import Foundation

/// Why a message could not be read.
struct UnreadablePayload: Error, Hashable, CustomStringConvertible {
    /// What is wrong with it.
    let description: String

    init(_ description: String) { self.description = description }
}

/// Where the values of one state come from.
struct ValueSource: Sendable, Hashable {
    /// The topic.
    let topic: String
    /// The template that extracts the value from the payload; nil if the payload is the value.
    let template: Template?

    /// The value in a payload as text; nil if it does not contain one.
    /// - Throws: ``UnreadablePayload`` if the payload is not what the template expects.
    func text(_ payload: MQTTPayload) throws(UnreadablePayload) -> String? {
        guard let template else { return payload.text.isEmpty ? nil : payload.text }
        do throws(TemplateError) {
            let text = try template.render(payload)
            return text.isEmpty || text == "None" ? nil : text
        } catch .noValue(let what) {
            // Many devices send only what has changed.
            if payload.json != nil { return nil }
            throw UnreadablePayload("is not JSON; the template reads \(what)")
        } catch {
            throw UnreadablePayload("cannot be read: the template \(error)")
        }
    }

    /// The name of the event in a payload: its text, or the member `event_type` of JSON. Nil if it does not contain one.
    func event(_ payload: MQTTPayload) throws(UnreadablePayload) -> String? {
        guard let text = try text(payload) else { return nil }
        // Thousands of entities may read one long payload. Its JSON is read once.
        let json = template == nil ? payload.json : (try? JSONValue(parsing: Data(text.utf8)))
        return json?["event_type"]?.string ?? text
    }

    /// The number in a payload.
    func number(_ payload: MQTTPayload) throws(UnreadablePayload) -> Double? {
        guard let text = try text(payload), text != "unknown", text != "unavailable" else { return nil }
        guard let number = JSONValue.number(in: text) else {
            throw UnreadablePayload("\(text.prefix(40)) is not a number")
        }
        return number
    }

    /// Several numbers with commas between them, such as a colour.
    func numbers(_ count: Int, _ payload: MQTTPayload) throws(UnreadablePayload) -> [Double]? {
        guard let text = try text(payload) else { return nil }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { JSONValue.number(in: String($0)) }
        guard parts.count == count, numbers.count == count else {
            throw UnreadablePayload("\(text.prefix(40)) is not a list of \(count) numbers")
        }
        return numbers
    }
}

/// Where the commands of one kind go.
struct CommandTarget: Sendable, Hashable {
    /// The topic.
    let topic: String
    /// The template that makes the payload; nil if the value is the payload.
    let template: Template?
    /// Whether the broker keeps the command for the device.
    let isRetained: Bool
    /// The quality of service that the device requests.
    let qualityOfService: Int

    /// The message that carries `value`.
    /// - Parameter names: what the template can use besides `value`.
    func publication(
        _ value: JSONValue, _ names: [String: JSONValue] = [:]
    ) throws(UnreadablePayload) -> MQTTPublication {
        guard let template else { return publication(text: value.printed) }
        do throws(TemplateError) {
            return publication(text: try template.render(names.merging(["value": value]) { first, _ in first }))
        } catch {
            throw UnreadablePayload("the command's template \(error)")
        }
    }

    /// The message with this text, regardless of the template.
    func publication(text: String) -> MQTTPublication {
        MQTTPublication(topic: topic, text: text, isRetained: isRetained, qualityOfService: qualityOfService)
    }
}
