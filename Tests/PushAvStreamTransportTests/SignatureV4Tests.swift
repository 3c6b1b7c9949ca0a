import Testing
import Transport

@testable import PushAvStreamTransport

@Suite("Signature Version 4") struct SignatureV4Tests {
    /// 2013-05-24T00:00:00Z, and the empty body.
    private let time = WallTime(millisecondsSince1970: 1_369_353_600_000)
    private let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    private let store = SignatureV4(
        credentials: .init(
            accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        region: "us-east-1")
    private let host = (name: "host", value: "examplebucket.s3.amazonaws.com")

    /// The examples of the Amazon S3 API Reference, "Signature Calculations for the Authorization Header".
    @Test func `the examples of the S3 documentation`() {
        #expect(
            signature(
                store.headers(
                    method: "GET", path: "/test.txt", headers: [host, ("range", "bytes=0-9")],
                    payloadHash: empty, at: time)) == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        )
        #expect(
            signature(
                store.headers(
                    method: "GET", path: "/", query: [("lifecycle", "")], headers: [host],
                    payloadHash: empty, at: time)) == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        )
        #expect(
            signature(
                store.headers(
                    method: "GET", path: "/", query: [("prefix", "J"), ("max-keys", "2")],
                    headers: [host], payloadHash: empty, at: time))
                == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
        let body = SignatureV4.hash(of: Array("Welcome to Amazon S3.".utf8))
        let put = store.headers(
            method: "PUT", path: "/test$file.text",
            headers: [
                ("date", "Fri, 24 May 2013 00:00:00 GMT"), host, ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
            ], payloadHash: body, at: time)
        #expect(signature(put) == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
        #expect(put.contains { $0.name == "x-amz-content-sha256" && $0.value == body })
        #expect(put.contains { $0.name == "x-amz-date" && $0.value == "20130524T000000Z" })
    }

    /// The published test suite: AKIDEXAMPLE, 2015-08-30T12:36:00Z, the region us-east-1, the service "service".
    @Test(
        arguments: [
            ("GET", "/", [], "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("POST", "/", [], "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
            ("GET", "/ሴ", [], "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
            (
                "GET", "/", [("Param2", "value2"), ("Param1", "value1")],
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
            ),
        ] as [(String, String, [(String, String)], String)])
    func `the published test suite`(
        method: String, path: String, query: [(String, String)], expected: String
    ) {
        let signer = SignatureV4(
            credentials: .init(
                accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            region: "us-east-1", service: "service")
        let headers = signer.headers(
            method: method, path: path, query: query.map { (name: $0.0, value: $0.1) },
            headers: [("host", "example.amazonaws.com")], payloadHash: empty,
            at: WallTime(millisecondsSince1970: 1_440_938_160_000))
        #expect(signature(headers) == expected)
    }

    @Test func `a path is encoded exactly once`() {
        #expect(SignatureV4.canonicalPath("/a%20b/c+d/%C3%A9%") == "/a%20b/c%2Bd/%C3%A9%25")
        #expect(SignatureV4.canonicalPath("") == "/")
    }

    @Test func `temporary credentials sign their token`() {
        var signer = store
        signer.credentials.sessionToken = "token"
        let headers = signer.headers(method: "PUT", path: "/a", headers: [host], payloadHash: empty, at: time)
        #expect(headers.contains { $0.name == "x-amz-security-token" && $0.value == "token" })
        #expect(headers.last?.value.contains("x-amz-date;x-amz-security-token,") == true)
    }

    private func signature(_ headers: [(name: String, value: String)]) -> String {
        headers.first { $0.name == "authorization" }?.value.split(separator: "=").last.map(String.init) ?? ""
    }
}
