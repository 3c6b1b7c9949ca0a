import Testing

@testable import Gateway

/// The sections `mqtt` and `devices` of the config.
@Suite struct HomeConfigurationTests {
    private func problems(_ yaml: String) -> [String] {
        do {
            _ = try GatewayConfiguration(yaml: yaml, environment: [:])
            return []
        } catch {
            return error.problems.map { "\($0.key): \($0.reason)" }
        }
    }

    private func presence(_ yaml: String) throws -> GatewayConfiguration.MQTT.Presence? {
        try GatewayConfiguration(yaml: "mqtt: {host: broker\(yaml)}", environment: [:]).mqtt?.presence
    }

    @Test func `presence is every tracker, nobody, or the trackers of persons`() throws {
        #expect(try presence("") == .everyTracker)
        #expect(try presence(", presence: true") == .everyTracker)
        #expect(try presence(", presence: false") == .nobody)
        #expect(
            try presence(", presence: {Anna: [phone, watch], Ben: presence/ben}")
                == .persons(["Anna": ["phone", "watch"], "Ben": ["presence/ben"]]))
    }

    @Test(arguments: ["{Anna: []}", "{\"\": phone}", "[phone]", "maybe", "{Anna: {phone: 1}}", "{\"A\\u202E\": phone}"])
    func `presence that means nothing is a problem`(_ text: String) {
        let found = problems("mqtt: {host: broker, presence: \(text)}")
        #expect(!found.isEmpty && found.allSatisfy { $0.hasPrefix("mqtt.presence") }, "\(found)")
    }

    @Test func `a virtual device may have a room`() throws {
        let text = "devices: {desk: {type: OnOffLight, room: Study}, hall: {type: OnOffLight}}"
        let devices = try GatewayConfiguration(yaml: text, environment: [:]).devices
        #expect(devices.map(\.room) == ["Study", nil])
        #expect(problems("devices: {desk: {type: OnOffLight, room: \"\"}}").count == 1)
    }
}
