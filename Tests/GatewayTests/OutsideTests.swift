import HomeTypes
import Testing
import Transport

@testable import Gateway

/// What a look from another machine says.
@Suite struct OutsideTests {
    private static let global = TransportAddress(ipv4: 0xCB00_7106, port: 8189)
    private static let local = TransportAddress(ipv4: 0xC0A8_010A, port: 8189)

    private static func facts(
        _ url: String = "https://home.example", _ change: (inout OutsideFacts) -> Void = { _ in }
    ) -> OutsideFacts {
        var facts = OutsideFacts(url: url, host: "home.example", port: 443, isSecure: url.hasPrefix("https"))
        facts.addresses = [global.withPort(443)]
        facts.view = .connected(path: "direct", after: .milliseconds(45))
        facts.tcp = [(global, nil)]
        change(&facts)
        return facts
    }

    private static func messages(_ facts: OutsideFacts) -> [String] {
        DoctorFinding.outside(facts).map { "\($0.state.rawValue): \($0.message)" }
    }

    @Test func aGatewayThatIsReachedInEveryWayIsGood() {
        #expect(
            Self.messages(Self.facts()) == [
                "good: home.example has the address 203.0.113.6.",
                "good: The page and the API answer at https://home.example.",
                "good: The certificate is for home.example, and this machine trusts it.",
                "good: Media comes over UDP, after 45 ms.",
                "good: Viewers whose network blocks UDP reach the gateway over TCP at 203.0.113.6:8189.",
            ])
    }

    @Test func whatDoesNotWorkComesWithAdvice() {
        let foreign = HomeError(
            .unavailable, "the certificate of https://home.example is for another name",
            subtype: .connection(.certificateOfAnotherName))
        let bad: [OutsideFacts] = [
            Self.facts { $0.lookUpFailure = "home.example: Name or service not known" },
            Self.facts { $0.failure = foreign },
            Self.facts { $0.failure = .unavailable("no gateway runs at https://home.example") },
            Self.facts { $0.failure = .unauthenticated("the token is not valid") },
            Self.facts { ($0.view, $0.tcp) = (.failed("no answer"), [(Self.global, "no answer")]) },
        ]
        for facts in bad {
            let found = DoctorFinding.outside(facts)
            #expect(found.contains { $0.state == .failure }, "\(found)")
            #expect(found.allSatisfy { $0.advice != nil || $0.state == .good }, "\(found)")
            #expect(!found.contains { $0.message.hasSuffix("..") })
        }
        #expect(DoctorFinding.outside(bad[0]).count == 1)
        #expect(DoctorFinding.outside(bad[1]).last?.subject == .certificate)
        #expect(DoctorFinding.outside(bad[2]).last?.advice?.contains("Forward TCP port 443") == true)
    }

    @Test func aNameOfTheLocalNetworkIsExplained() {
        var facts = Self.facts()
        facts.host = "gatehouse.local"
        facts.lookUpFailure = "gatehouse.local: Name or service not known"
        #expect(DoctorFinding.outside(facts).first?.advice?.contains("own network") == true)
        let inside = Self.facts { $0.addresses = [Self.local] }
        #expect(
            Self.messages(inside)[0].hasPrefix("note: home.example is 192.168.1.10, an address of the local network"))
        let itself = Self.facts { $0.addresses = [TransportAddress(ipv4: 0x7F00_0001, port: 443)] }
        #expect(Self.messages(itself)[0].contains("does not test access from outside"))
    }

    @Test func aConnectionInTheClearIsAWarningExceptToThisMachine() {
        #expect(DoctorFinding.outside(Self.facts("http://home.example")).contains { $0.state == .warning })
        let here = Self.facts("http://home.example") { $0.addresses = [TransportAddress(ipv4: 0x7F00_0001, port: 80)] }
        #expect(!DoctorFinding.outside(here).contains { $0.state == .warning })
    }

    @Test func mediaSaysByWhichWayItComes() {
        func media(_ change: (inout OutsideFacts) -> Void) -> [DoctorFinding] {
            DoctorFinding.outside(Self.facts("https://home.example", change)).filter { $0.subject == .mediaPort }
        }
        #expect(media { $0.view = .connected(path: "relayed", after: .seconds(1)) }.map(\.state) == [.note, .good])
        #expect(
            media { $0.view = .connected(path: "reflexive", after: .milliseconds(9)) }.first?.message
                == "Media comes over UDP through a router, after 9 ms.")
        // Viewers still get media over TCP.
        #expect(media { $0.view = .failed("no answer") }.map(\.state) == [.warning, .good])
        #expect(media { $0.tcp = [(Self.global, "connection refused")] }.map(\.state) == [.good, .warning])
        #expect(media { $0.tcp = [] }.map(\.state) == [.good, .note])
        #expect(media { ($0.view, $0.tcp) = (.notTried("no camera"), []) }.map(\.state) == [.note])
    }
}
