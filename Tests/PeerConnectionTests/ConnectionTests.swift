import DTLS
import ICE
import NetworkSimulator
import PeerConnection
import PeerFakes
import SRTP
import Testing
import Transport

@Suite struct ConnectionTests {
    @Test func connectsInThreeRoundTrips() throws {
        let session = try Session()
        #expect(session.connect())
        // Half a round trip to be heard, one for the check that makes the pair valid and the ClientHello, two for DTLS.
        #expect(session.simulation.now - Session.start <= .milliseconds(80))
        #expect(session.viewer.events.map(\.event) == [.firstCheck, .pathFound, .connected])
        #expect(session.gateway.events.map(\.event) == [.firstCheck, .pathFound, .connected])
        #expect(session.viewer.connection.profile == .aeadAES128GCM)
    }

    @Test(arguments: [0.0, 0.01, 0.05, 0.2])
    func connectsInSpiteOfLoss(loss: Double) throws {
        for seed in UInt64(1)...24 {
            let session = try Session(conditions: LinkConditions(latency: .milliseconds(20), loss: loss), seed: seed) {
                $0.gatewayKnowsCandidates = seed.isMultiple(of: 2)
            }
            #expect(session.connect(within: .seconds(loss > 0.1 ? 20 : 5)), "seed \(seed)")
            #expect(session.simulation.stall == nil)
            for peer in [session.viewer, session.gateway] {
                #expect(!peer.sentHandshakeBeforePath, "seed \(seed)")
                #expect(peer.failure == nil, "seed \(seed)")
            }
        }
    }

    @Test func connectsInSpiteOfReorderingAndDuplicates() throws {
        var conditions = LinkConditions(latency: .milliseconds(20), loss: 0.02)
        conditions.jitter = .milliseconds(15)
        conditions.reordering = 0.3
        conditions.reorderingDelay = .milliseconds(30)
        conditions.duplication = 0.3
        for seed in UInt64(100)...115 {
            let session = try Session(conditions: conditions, seed: seed)
            #expect(session.connect(within: .seconds(5)), "seed \(seed)")
            session.startMedia()
            let media = session.countMedia(in: .seconds(2))
            #expect(media.viewer > 85 && media.gateway > 85, "seed \(seed): \(media)")
            // A copy is dropped.
            #expect(Set(session.viewer.received).count == session.viewer.received.count)
        }
    }

    @Test(arguments: [true, false], [[SRTPProfile.aeadAES128GCM], [.aes128CMHMACSHA1_80]])
    func mediaFlowsInEveryRoleAndProfile(viewerIsClient: Bool, profiles: [SRTPProfile]) throws {
        let session = try Session {
            $0.viewerIsDTLSClient = viewerIsClient
            $0.viewerProfiles = profiles
        }
        #expect(session.connect())
        #expect(session.gateway.connection.profile?.rawValue == profiles[0].rawValue)
        session.startMedia()
        let media = session.countMedia(in: .seconds(2))
        #expect(media.viewer >= 98 && media.gateway >= 98)
        // The numbers begin at 65,500, so the rollover counter has moved on both sides.
        #expect(session.viewer.received.contains(10))
        #expect(session.viewer.refusals.srtp == 0 && session.gateway.refusals.srtp == 0)
    }

    @Test(arguments: [ICENomination.aggressive, .regular], NATKind.allCases)
    func aViewerBehindARouterIsFoundByItsChecks(nomination: ICENomination, kind: NATKind) throws {
        for knowsCandidates in [true, false] {
            let session = try Session {
                $0.viewerHost = "10.0.0.2"
                $0.nomination = nomination
                $0.gatewayKnowsCandidates = knowsCandidates
            }
            let outside = try #require(TransportAddress("192.0.2.99", port: 0))
            _ = session.simulation.network.addNAT(kind, outside: outside, inside: session.viewer.addresses)
            #expect(session.connect())
            #expect(session.gateway.remoteAddress?.hasSameHost(as: outside) == true)
            session.startMedia()
            let media = session.countMedia(in: .seconds(1))
            #expect(media.viewer >= 48 && media.gateway >= 48)
        }
    }

    @Test func aClientHelloMayOvertakeTheAnswerThatMakesItsPairValid() throws {
        let session = try Session()
        // The viewer's answer to the gateway's check comes late; its ClientHello does not wait for it.
        session.viewer.answerDelay = .milliseconds(60)
        #expect(session.connect())
        let hellos = session.viewer.transmitted.filter { $0.kind == .dtls }
        let path = try #require(session.gateway.time(of: .pathFound))
        #expect(try #require(hellos.first).at < path)
        #expect(session.gateway.refusals.dtls == 0)
        // The gateway's flight left at once when its path was there: one round trip and a half later all is done.
        #expect(session.simulation.now - path <= .milliseconds(40))
    }

    @Test func aForeignCertificateEndsTheSessionOnBothSides() throws {
        for viewerIsClient in [true, false] {
            let session = try Session {
                $0.viewerIsDTLSClient = viewerIsClient
                $0.toldFingerprint = try? Identities.gateway.get().fingerprint
            }
            #expect(!session.connect(within: .seconds(2)))
            let failure = try #require(session.gateway.failure)
            #expect(failure.reason == .handshake(.fingerprintMismatch))
            #expect(!session.gateway.isConnected && !session.viewer.isConnected)
            // The alert says so at once; without it the viewer would repeat its flight for half a minute.
            #expect(session.viewer.failure != nil)
        }
    }

    @Test func eitherSideEndsTheSessionAtOnce() throws {
        for viewerCloses in [true, false] {
            let session = try Session()
            #expect(session.connect())
            session.startMedia()
            session.simulation.run(for: .seconds(1))
            let closing = viewerCloses ? session.viewer : session.gateway
            let other = viewerCloses ? session.gateway : session.viewer
            let now = session.simulation.now
            closing.connection.close()
            #expect(!closing.isConnected)
            session.simulation.run(for: .seconds(1))
            let failure = try #require(other.failure)
            #expect(failure.at - now == .milliseconds(10))
            #expect(failure.reason == .closedByPeer)
            #expect(closing.failure == nil)
            #expect(closing.connection.nextDeadline == nil && other.connection.nextDeadline == nil)
            // Both sides are silent from here on.
            let sent = (closing.transmitted.count, other.transmitted.count)
            session.simulation.run(for: .seconds(60))
            #expect(sent == (closing.transmitted.count, other.transmitted.count))
        }
    }

    @Test func closingBeforeTheHandshakeIsSilent() throws {
        let session = try Session()
        session.gateway.connection.close()
        session.simulation.run(for: .seconds(1))
        #expect(session.gateway.transmitted.isEmpty)
        #expect(session.gateway.failure == nil)
    }
}
