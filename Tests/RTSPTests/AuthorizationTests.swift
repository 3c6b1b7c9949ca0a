import Testing
import Transport

@testable import RTSP

@Suite struct AuthorizationTests {
    @Test func digestOfRFC2617() throws {
        let challenge = try #require(
            Challenge.list([
                """
                Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", \
                opaque="5ccc069c403ebaf9f0171e9517f40e41"
                """
            ]).first)
        var authorization = Authorization(
            challenge: challenge, credentials: RTSPCredentials(user: "Mufasa", password: "Circle Of Life"),
            clientNonce: "0a4f113b")
        let headerValue = authorization.header(method: "GET", uri: "/dir/index.html")
        let header = try #require(headerValue)
        #expect(header.contains("response=\"6629fae49393a05397450978507c4ef1\""))
        #expect(header.contains("nc=00000001"))
        #expect(header.contains("opaque=\"5ccc069c403ebaf9f0171e9517f40e41\""))
        let secondValue = authorization.header(method: "GET", uri: "/dir/index.html")
        let second = try #require(secondValue)
        #expect(second.contains("nc=00000002"))
    }

    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func digestOfRFC7616(algorithm: String, response: String) throws {
        let challenge = try #require(
            Challenge.list([
                """
                Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\(algorithm), \
                nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", \
                opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
                """
            ]).first)
        var authorization = Authorization(
            challenge: challenge, credentials: RTSPCredentials(user: "Mufasa", password: "Circle of Life"),
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        let headerValue = authorization.header(method: "GET", uri: "/dir/index.html")
        let header = try #require(headerValue)
        #expect(header.contains("response=\"\(response)\""))
    }

    @Test func digestWithoutQualityHashesAsRFC2069() throws {
        let challenge = try #require(Challenge.list([#"Digest realm="cam", nonce="abc""#]).first)
        var authorization = Authorization(
            challenge: challenge, credentials: RTSPCredentials(user: "u", password: "p"), clientNonce: "c")
        let headerValue = authorization.header(method: "DESCRIBE", uri: "rtsp://h/")
        let header = try #require(headerValue)
        let first = try #require(DigestAlgorithm.md5.hash("u:cam:p"))
        let second = try #require(DigestAlgorithm.md5.hash("DESCRIBE:rtsp://h/"))
        let response = try #require(DigestAlgorithm.md5.hash("\(first):abc:\(second)"))
        #expect(header.contains(response))
        #expect(!header.contains("cnonce") && !header.contains("qop") && !header.contains("algorithm"))
    }

    @Test func basicOfRFC7617() throws {
        let challenge = try #require(Challenge.list(["Basic realm=\"WallyWorld\""]).first)
        var authorization = Authorization(
            challenge: challenge, credentials: RTSPCredentials(user: "Aladdin", password: "open sesame"),
            clientNonce: "")
        #expect(authorization.header(method: "GET", uri: "/") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    }

    @Test func theStrongestOfSeveralOffersComesFirst() {
        let schemes = Challenge.list([
            "Basic realm=\"a\", Digest realm=\"b, c\", nonce=\"n\", algorithm=MD5",
            "Digest realm=\"d\", nonce=\"m\", algorithm=SHA-256, stale=\"FALSE\"",
            "Bearer realm=\"e\"", "Digest realm=\"f\", algorithm=SHA-3, nonce=\"x\"",
            "Digest realm=\"g\", algorithm=\"SHA-512-256\", nonce=\"x\", userhash=true",
        ])
        #expect(schemes.map(\.realm) == ["g", "d", "b, c", "a"])
        #expect(schemes.allSatisfy { !$0.isStale })
    }

    @Test(
        arguments: [
            ("Digest realm=\"d\", nonce=\"n\"", false, []), ("Digest realm=\"d\", nonce=\"n\"", true, []),
            ("Basic realm=\"b\"", false, ["Basic"]),
            // The password itself is not sent only because the hash is missing.
            ("Digest realm=\"d\", nonce=\"n\", Basic realm=\"b\"", false, []),
            ("Digest realm=\"d\", nonce=\"n\", Basic realm=\"b\"", true, ["Basic"]),
            (
                "Digest realm=\"d\", nonce=\"n\", Digest realm=\"d\", nonce=\"n\", algorithm=SHA-256", false,
                ["Digest SHA-256"]
            ),
        ] as [(String, Bool, [String])])
    func `only hashes that this machine has are answered`(offer: String, mayShowPassword: Bool, names: [String]) {
        let answerable = Challenge.answerable(
            Challenge.list([offer]), with: [.sha256, .sha512Truncated], mayShowPassword: mayShowPassword)
        #expect(answerable.map(\.name) == names)
    }

    @Test(arguments: ["realm", "nonce", "opaque"])
    func aChallengeCannotEndALineOfTheAnswer(parameter: String) {
        var parameters = ["realm": "r", "nonce": "n", "opaque": "o"]
        parameters[parameter] = "x\r\nTeardown: now"
        let text = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\"\($0.value)\"" }.joined(separator: ", ")
        #expect(Challenge.list(["Digest \(text)"]).isEmpty)
    }

    @Test func nothingPrintsAPassword() throws {
        let url = try RTSPURL(parsing: "rtsp://admin:hunter2@cam.example/live")
        var texts = ["\(url)", String(reflecting: url)]
        if let credentials = url.credentials { texts += ["\(credentials)", String(reflecting: credentials)] }
        var dumped = ""
        dump(url, to: &dumped)
        let challenge = try #require(Challenge.list(["Basic realm=\"a\""]).first)
        let credentials = RTSPCredentials(user: "admin", password: "hunter2")
        let authorization = Authorization(challenge: challenge, credentials: credentials, clientNonce: "")
        dump(authorization, to: &dumped)
        texts += [dumped, "\(authorization)"]
        #expect(texts.allSatisfy { !$0.contains("hunter2") })
    }
}
