import HomeTypes
import Testing

@testable import LiveViewClient

/// The resource of a live view on a WHEP server.
@Suite(.timeLimit(.minutes(10))) struct WHEPResourceTests {
    @Test(arguments: [
        ("https://view.example/whep", "https://view.example:443/sessions/1", true),
        ("http://view.example:80/whep", "HTTP://View.Example/sessions/1", true),
        ("http://[::1]:8080/whep", "http://[::1]:8080/sessions/1", true),
        ("https://view.example/whep", "https://view.example:8443/sessions/1", false),
        ("https://view.example:80/whep", "http://view.example:80/sessions/1", false),
        ("http://view.example:443/whep", "https://view.example/sessions/1", false),
        ("https://view.example/whep", "https://view.example.org/sessions/1", false),
        ("https://view.example/whep", "/sessions/1", false),
        ("/whep", "/sessions/1", false),
    ])
    func `the token goes to the server of the offer and to no other`(offered: String, resource: String, isSame: Bool) {
        #expect(WHEPResource.haveSameOrigin(offered, resource) == isSame)
        #expect(WHEPResource.haveSameOrigin(resource, offered) == isSame)
    }

    @Test func `an offer of a task that is cancelled says so`() async {
        let offering = Task { () async -> HomeError.Code? in
            while !Task.isCancelled { await Task.yield() }
            do throws(HomeError) {
                // Nothing listens at the discard port.
                _ = try await WHEPResource(url: "http://127.0.0.1:9/whep", token: nil, offerSdp: "v=0")
                return nil
            } catch {
                return error.code
            }
        }
        offering.cancel()
        #expect(await offering.value == .cancelled)
    }
}
