import ICE
import NetworkSimulator
import PeerConnection
import PeerFakes
import Testing
import Transport

@Suite struct PathTests {
    @Test func mediaContinuesWhenTheViewerMoves() throws {
        for seed in UInt64(1)...6 {
            let session = try Session(conditions: LinkConditions(latency: .milliseconds(20), loss: 0.05), seed: seed)
            #expect(session.connect())
            session.startMedia()
            session.simulation.run(for: .seconds(20))
            // From the Wi-Fi to the mobile network.
            try session.viewer.move(to: "198.51.100.200")
            session.simulation.run(for: .seconds(12))
            let media = session.countMedia(in: .seconds(5))
            #expect(media.viewer > 200 && media.gateway > 200, "seed \(seed): \(media)")
            #expect(session.gateway.remoteAddress == session.viewer.addresses.first)
            #expect(session.gateway.events.contains { $0.event == .pathChanged })
            session.startMedia(every: .seconds(1))
            session.simulation.run(for: .seconds(120))
            #expect(session.viewer.failure == nil && session.gateway.failure == nil, "seed \(seed)")
        }
    }

    @Test func mediaContinuesWhenTheRouterForgets() throws {
        for kind in NATKind.allCases {
            let session = try Session { $0.viewerHost = "10.0.0.2" }
            let outside = try #require(TransportAddress("192.0.2.99", port: 0))
            let router = session.simulation.network.addNAT(kind, outside: outside, inside: session.viewer.addresses)
            #expect(session.connect())
            session.startMedia()
            session.simulation.run(for: .seconds(10))
            session.simulation.network.rebind(router, to: TransportAddress("192.0.2.100", port: 0))
            session.simulation.run(for: .seconds(12))
            let media = session.countMedia(in: .seconds(5))
            #expect(media.viewer >= 245 && media.gateway >= 245, "\(kind): \(media)")
            session.simulation.run(for: .seconds(60))
            #expect(session.viewer.failure == nil && session.gateway.failure == nil, "\(kind)")
        }
    }

    @Test func mediaFlowsThroughAnICERestart() throws {
        let session = try Session()
        #expect(session.connect())
        session.startMedia()
        session.simulation.run(for: .seconds(3))
        var random = RandomSource.seeded(99)
        let (viewer, gateway) = (ICECredentials(using: &random), ICECredentials(using: &random))
        let now = session.simulation.now
        session.gateway.connection.restartICE(local: gateway, remote: viewer, at: now)
        // The answer arrives late.
        let before = session.countMedia(in: .seconds(2))
        #expect(before.viewer >= 98 && before.gateway >= 98)
        session.viewer.connection.restartICE(local: viewer, remote: gateway, at: session.simulation.now)
        session.viewer.connection.addRemoteCandidate(
            RemoteCandidate(address: try #require(session.gateway.addresses.first), priority: 1 << 30))
        let after = session.countMedia(in: .seconds(2))
        #expect(after.viewer >= 98 && after.gateway >= 98)
        session.startMedia(every: .seconds(1))
        session.simulation.run(for: .seconds(120))
        #expect(session.areConnected)
        #expect(session.gateway.events.contains { $0.event == .pathChanged })
        // DTLS was not done again.
        #expect(session.gateway.events.count { $0.event == .connected } == 1)
    }

    @Test(arguments: [0.0, 0.05, 0.2])
    func halfAnHourPassesWithConsent(loss: Double) throws {
        let session = try Session(conditions: LinkConditions(latency: .milliseconds(30), loss: loss), seed: 5)
        #expect(session.connect())
        session.startMedia(every: .seconds(1))
        session.simulation.run(for: .seconds(1800))
        #expect(session.simulation.stall == nil)
        #expect(session.viewer.failure == nil && session.gateway.failure == nil)
        #expect(Double(session.viewer.received.count) > 1800 * (1 - loss) * 0.95)
        // Consent costs each side a check in five seconds and an answer, a little more where some are lost.
        let checks = session.gateway.transmitted.count { $0.kind == .stun }
        #expect(checks < (loss == 0 ? 750 : 1_500), "\(checks)")
    }

    /// Consent is what counts, in both directions: neither media nor the peer's own checks replace an answer.
    @Test(arguments: [false, true], [false, true])
    func aPeerThatDoesNotAnswerIsReleasedAfterThirtySeconds(vanishes: Bool, sendsMedia: Bool) throws {
        for seed in UInt64(1)...3 {
            let session = try Session(seed: seed)
            #expect(session.connect())
            session.gateway.mediaInterval = .milliseconds(100)
            if sendsMedia { session.viewer.mediaInterval = .milliseconds(100) }
            session.simulation.run(for: .seconds(60))
            #expect(session.gateway.failure == nil)
            let silent = session.simulation.now
            if vanishes {
                session.viewer.hasVanished = true
            } else {
                session.viewer.answersChecks = false
            }
            session.simulation.run(for: .seconds(23))
            #expect(session.gateway.failure == nil)
            session.simulation.run(for: .seconds(60))
            let failure = try #require(session.gateway.failure)
            #expect(failure.reason == .consentExpired)
            // The last answer came up to six seconds before; consent lasts thirty from there.
            #expect(failure.at - silent > .seconds(23) && failure.at - silent <= .milliseconds(30_100))
            // After that not a packet more goes out.
            #expect(session.gateway.transmitted.allSatisfy { $0.at <= failure.at })
        }
    }

    @Test func aPathWithoutMediaKeepsItsConsent() throws {
        let session = try Session()
        #expect(session.connect())
        session.simulation.run(for: .seconds(600))
        #expect(session.areConnected)
    }

    @Test func aViewerThatNeverComesIsGivenUp() throws {
        let session = try Session { $0.gatewayKnowsCandidates = true }
        session.viewer.hasVanished = true
        session.simulation.run(for: .seconds(100))
        let failure = try #require(session.gateway.failure)
        #expect(failure.reason == .noPath(.noResponse))
        #expect(failure.at - Session.start < .seconds(45))
        #expect(session.gateway.connection.nextDeadline == nil)
    }
}
