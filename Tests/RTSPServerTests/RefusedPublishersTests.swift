import RTSP
import Signalling
import StationFakes
import Testing
import Transport

@testable import RTSPServer

/// What is reported of publishers that are refused. They wait on sockets, so they need a thread of their own.
@Suite(.ownThread, .timeLimit(.minutes(10)))
struct RefusedPublishersTests {
    @Test func `an encoder that tries again and again is reported once, in a short line`() throws {
        let house = try PublishingHouse()
        let client = try PublishingClient(house)
        for _ in 0..<20 {
            #expect(try client.announce("attic").status == 404)
        }
        let expected = RTSPServerNews.refusedPublisher(
            camera: "attic", host: "127.0.0.1", refusal: .failed(.unknownDevice("attic")), count: 1)
        #expect(house.news.withLock { $0 } == [expected])
        let codec = String(repeating: "x", count: 2_000)
        let description = "v=0\ns=x\nm=audio 0 RTP/AVP 97\na=rtpmap:97 \(codec)/8000\na=control:0\n"
        #expect(try client.announce("phone", description).status == 415)
        guard case .refusedPublisher(let camera, _, let refusal, 1) = house.news.withLock({ $0.last }),
            case .announcement(.nothingUsable(let notes)) = refusal
        else {
            Issue.record("it is not reported")
            return
        }
        #expect(camera.utf8.count < 100 && refusal.logged.utf8.count < 600)
        #expect(RTSPServerNews.logged(leftOut: notes).utf8.count < 300)
        #expect(RTSPServerNews.logged(leftOut: []) == "nothing")
    }

    @Test(arguments: [PublisherTokenFault.permitsTooMuch, .mayNotPublish])
    func `an encoder whose token does not permit publishing reads why, and so does the log`(
        fault: PublisherTokenFault
    ) throws {
        let house = try PublishingHouse { $0.session.authentication.addressPublisher = { _, _ in .forbidden(fault) } }
        let client = try PublishingClient(house, hasPassword: false)
        let answer = try client.announce("phone?token=viewer")
        #expect(answer.status == 403 && answer.reason == fault.words)
        let expected = RTSPServerNews.refusedPublisher(
            camera: "phone", host: "127.0.0.1", refusal: .token(fault), count: 1)
        #expect(house.news.withLock { $0 } == [expected])
        // The connection goes on, and is as far from publishing as before.
        #expect(try client.announce("phone?token=viewer").status == 403)
        #expect(try client.ask("RECORD", "phone").status == 401)
    }
}
