import Testing

@testable import Gateway

/// The section `automations` of the config.
@Suite struct AutomationConfigurationTests {
    private func read(_ section: String) throws -> GatewayConfiguration.Automations {
        try GatewayConfiguration(
            yaml: "automations: \(section)", directory: "/etc/gatehouse",
            environment: ["PUSH_TOKEN": "a-token-of-the-phone"]
        ).automations
    }

    private func problems(_ section: String) -> [String] {
        do {
            _ = try GatewayConfiguration(
                yaml: "automations: \(section)", environment: ["PUSH_TOKEN": "a-token-of-the-phone"])
            return []
        } catch {
            return error.problems.map { "\($0.key): \($0.reason)" }
        }
    }

    @Test func `without the section automations run, within the limits that are documented`() throws {
        let section = try GatewayConfiguration(yaml: "cameras: []", environment: [:]).automations
        #expect(section.isEnabled && section.maximum == 10_000 && section.receivers.isEmpty)
        #expect(section.days == 30 && section.runs == 1_000)
    }

    @Test func `each key of the section is read`() throws {
        let section = try read("{enabled: false, maximum: 5, history: {days: 2, runs: 3}}")
        #expect(!section.isEnabled && section.maximum == 5 && section.days == 2 && section.runs == 3)
    }

    @Test func `a receiver is a topic or an address, with a token from the environment and its own authorities`() throws
    {
        let section = try read(
            """
            {notify: [{name: house, topic: house/told}, {name: phone, url: "https://push.example/a?b=c", \
            token: "${PUSH_TOKEN}", ca: own.pem}, {name: plain, url: "https://push.example:8443"}]}
            """)
        #expect(
            section.receivers == [
                .init(name: "house", way: .mqtt(topic: "house/told")),
                .init(
                    name: "phone",
                    way: .https(
                        url: "https://push.example/a?b=c", token: "a-token-of-the-phone",
                        authorities: "/etc/gatehouse/own.pem")),
                .init(name: "plain", way: .https(url: "https://push.example:8443", token: nil, authorities: nil)),
            ])
    }

    @Test func `a clip is a number, a name and a file`() throws {
        #expect(
            try read("{clips: [{number: 1, name: Dog, file: dog.wav}, {number: 255, name: Bell, file: /bell.wav}]}")
                .clips
                == [
                    .init(number: 1, name: "Dog", file: "/etc/gatehouse/dog.wav"),
                    .init(number: 255, name: "Bell", file: "/bell.wav"),
                ])
    }

    @Test(arguments: [
        ("{clips: [dog]}", "automations.clips[0]"), ("{clips: [{name: a, file: b}]}", "automations.clips[0]"),
        ("{clips: [{number: 1, file: b}]}", "automations.clips[0]"),
        ("{clips: [{number: 1, name: a}]}", "automations.clips[0]"),
        ("{clips: [{number: 0, name: a, file: b}]}", "automations.clips[0].number"),
        ("{clips: [{number: 256, name: a, file: b}]}", "automations.clips[0].number"),
        ("{clips: [{number: 1, name: \"\", file: b}]}", "automations.clips[0]"),
        ("{clips: [{number: 1, name: \(String(repeating: "n", count: 49)), file: b}]}", "automations.clips[0]"),
        ("{clips: [{number: 1, name: a, file: b, loud: true}]}", "automations.clips[0].loud"),
        ("{clips: [{number: 1, name: a, file: b}, {number: 1, name: c, file: d}]}", "automations.clips[1]"),
        ("{maximum: 0}", "automations.maximum"), ("{maximum: 10001}", "automations.maximum"),
        ("{enabled: 1}", "automations.enabled"), ("{history: {days: 0}}", "automations.history.days"),
        ("{history: {runs: 100001}}", "automations.history.runs"),
        ("{history: {hours: 1}}", "automations.history.hours"),
        ("{notify: [{topic: a}]}", "automations.notify[0]"),
        ("{notify: [{name: \"\", topic: a}]}", "automations.notify"),
        ("{notify: [{name: a}]}", "automations.notify[0]"), ("{notify: [phone]}", "automations.notify[0]"),
        ("{notify: [{name: a, topic: b, url: \"https://c\"}]}", "automations.notify[0]"),
        ("{notify: [{name: a, topic: b/#}]}", "automations.notify[0].topic"),
        ("{notify: [{name: a, topic: \"\"}]}", "automations.notify[0].topic"),
        ("{notify: [{name: a, topic: b, token: \"${PUSH_TOKEN}\"}]}", "automations.notify[0].token"),
        ("{notify: [{name: a, topic: b, ca: c.pem}]}", "automations.notify[0].ca"),
        ("{notify: [{name: a, url: \"http://c\"}]}", "automations.notify[0].url"),
        ("{notify: [{name: a, url: \"https://user@c\"}]}", "automations.notify[0].url"),
        ("{notify: [{name: a, url: \"https://c#d\"}]}", "automations.notify[0].url"),
        ("{notify: [{name: a, url: \"https://\"}]}", "automations.notify[0].url"),
        ("{notify: [{name: a, url: \"https://c\", token: secret}]}", "automations.notify[0].token"),
        ("{notify: [{name: a, topic: b}, {name: a, topic: c}]}", "automations.notify[1]"),
    ])
    func `what a receiver cannot be is a problem at its place`(section: String, place: String) {
        let found = problems(section)
        #expect(found.count == 1 && found[0].hasPrefix(place), "\(found)")
    }

    @Test func `a name that no automation can say is a problem`() {
        let (longest, longer) = (String(repeating: "n", count: 60), String(repeating: "n", count: 61))
        #expect(problems("{notify: [{name: \(longest), topic: b}]}").isEmpty)
        #expect(problems("{notify: [{name: \(longer), topic: b}]}").count == 1)
    }
}
