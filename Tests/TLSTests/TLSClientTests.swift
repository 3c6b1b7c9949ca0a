import TLSFakes
import Testing

@testable import TLS

@Suite struct TLSClientTests {
    @Test(arguments: ["turn.example", "192.0.2.1"])
    func bytesGoBothWaysOnceTheCertificateIsAccepted(name: String) throws {
        let server = try FakeTLSServer(names: "DNS:turn.example,IP:192.0.2.1")
        let client = try TLSClient(serverName: name, authorities: server.certificateFile)
        #expect(try server.exchange(with: client).isEmpty)
        #expect(client.isEstablished)
        let request = [UInt8](repeating: 7, count: 40_000)
        try request.withUnsafeBytes { try client.send(UnsafeRawBufferPointer(rebasing: $0[..<16_384])) }
        #expect(try server.exchange(with: client) == Array(request[..<16_384]))
        server.write(request)
        var received: [UInt8] = []
        _ = try server.exchange(with: client) { received += Array($0) }
        #expect(received == request)
        server.close()
        _ = try server.exchange(with: client)
        #expect(client.isClosed)
    }

    @Test(arguments: ["other.example", "192.0.2.2", "example"])
    func aCertificateForAnotherNameIsRefused(name: String) throws {
        let server = try FakeTLSServer(names: "DNS:turn.example,IP:192.0.2.1")
        let client = try TLSClient(serverName: name, authorities: server.certificateFile)
        let failure = #expect(throws: TLSFailure.self) { try server.exchange(with: client) }
        #expect(failure?.description.contains("certificate is refused") == true, "\(String(describing: failure))")
        #expect(!client.isEstablished)
    }

    @Test func aCertificateThatNobodyVouchesForIsRefused() throws {
        let server = try FakeTLSServer(names: "DNS:turn.example")
        let client = try TLSClient(serverName: "turn.example")
        #expect(throws: TLSFailure.self) { try server.exchange(with: client) }
        #expect(!client.isEstablished)
    }

    @Test func aFileWithoutAuthoritiesIsRefused() {
        #expect(throws: TLSFailure.self) { try TLSClient(serverName: "turn.example", authorities: "/dev/null") }
    }

    @Test func nothingIsSentBeforeTheCertificateIsAccepted() throws {
        let client = try TLSClient(serverName: "turn.example")
        let greeting = client.transmit()
        #expect(!greeting.isEmpty)
        try [1, 2, 3].withUnsafeBytes { try client.send($0) }
        #expect(client.transmit().isEmpty)
    }

    /// OpenSSL answers each request for new keys and sets no bound to how many come: who moves the bytes has to.
    @Test func eachRequestForNewKeysIsAnswered() throws {
        let server = try FakeTLSServer(names: "DNS:turn.example")
        let client = try TLSClient(serverName: "turn.example", authorities: server.certificateFile)
        _ = try server.exchange(with: client)
        var sizes: [Int] = []
        // OpenSSL 3.0 keeps the answer to the first one until the second.
        for count in [1, 1, 100] {
            for _ in 0..<count {
                let isAsked = server.requestKeyUpdate()
                try #require(isAsked)
            }
            try server.takeOutput().withUnsafeBytes { try client.handle($0) { _ in } }
            let answer = client.transmit()
            sizes.append(answer.count)
            _ = server.receive(answer)
        }
        #expect(sizes[1] > 0 && sizes[2] == 100 * sizes[1])
        // The keys are still those of both sides.
        let message: [UInt8] = [1, 2, 3]
        try message.withUnsafeBytes { try client.send($0) }
        let arrived = try server.exchange(with: client)
        #expect(arrived == message)
    }

    @Test func bytesThatAreNotTLSEndTheConnection() throws {
        let client = try TLSClient(serverName: "turn.example")
        #expect(throws: TLSFailure.self) {
            try Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8).withUnsafeBytes { try client.handle($0) { _ in } }
        }
    }
}

extension TLSClient {
    fileprivate func transmit() -> [UInt8] {
        var found: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while let count = buffer.withUnsafeMutableBytes({ pollTransmit(into: $0) }) {
            found += buffer[..<count]
        }
        return found
    }
}

extension FakeTLSServer {
    /// Lets both talk until neither has anything to say; returns what the client has sent.
    @discardableResult
    fileprivate func exchange(
        with client: TLSClient, _ received: (UnsafeRawBufferPointer) -> Void = { _ in }
    ) throws -> [UInt8] {
        var sent: [UInt8] = []
        for _ in 0..<20 {
            let bytes = client.transmit()
            sent += receive(bytes)
            let answer = takeOutput()
            if bytes.isEmpty, answer.isEmpty { break }
            try answer.withUnsafeBytes { try client.handle($0, received) }
        }
        return sent
    }
}
