import DTLS
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import PushAvStreamTransport
import Testing

@testable import Gateway

@Suite struct UploadEndpointAPITests {
    @Test func `what is refused is not masked until the gateway stops`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let path = "/v1/upload-endpoints/cloud"
            func put(_ region: String, _ secret: String) async throws -> HTTPResponse.Status {
                let body = #"{"kind":"s3","region":"\#(region)","accessKeyId":"A","secretAccessKey":"\#(secret)"}"#
                return try await client.send(.put, path, body, type: "application/json").status
            }
            let refused = try await put("two words", "refused-text")
            #expect(refused == .badRequest)
            let kept = try await put("word", "kept-secret")
            #expect(kept == .created)
        }
        #expect(gateway.secrets.all.contains("kept-secret"))
        #expect(!gateway.secrets.all.contains("refused-text"))
    }

    @Test func `an endpoint is provisioned, shown without secrets, replaced and deleted`() async throws {
        let gateway = try TestGateway()
        let identity = try DTLSIdentity.generate()
        let body = try JSONEncoder().encode(
            ["clientCertificate": identity.certificatePEM, "privateKey": identity.privateKeyPEM])
        try await gateway.run { client in
            let path = "/v1/upload-endpoints/cloud"
            let json = "application/json"
            let made = try await client.send(.put, path, String(decoding: body, as: UTF8.self), type: json)
            #expect(made.status == .created)
            #expect(try made.decoded(UploadEndpointSummary.self).clientCertificate?.subject == "CN=gatehouse")
            #expect(!String(buffer: made.body).contains("PRIVATE KEY"))
            let store = try await client.send(
                .put, path, #"{"kind":"s3","region":"r","accessKeyId":"A","secretAccessKey":"hidden-secret"}"#,
                type: json)
            #expect(store.status == .ok)
            #expect(!String(buffer: store.body).contains("hidden"))
            // Whatever is logged from now on, these are not in it.
            let redactor = Redactor(secrets: gateway.secrets)
            let lines = identity.privateKeyPEM.split(separator: "\n").dropFirst().dropLast().map(String.init)
            for secret in lines + ["hidden-secret"] {
                #expect(!redactor.redact("the server said: \(secret)").contains(secret))
            }
            let list = try await client.get("/v1/upload-endpoints").decoded(GatewayAPI.UploadEndpointList.self)
            #expect(list.endpoints.map(\.id) == [1])
            #expect(try await client.get(path).status == .ok)
            #expect(try await client.get("/v1/upload-endpoints/other").status == .notFound)
            for wrong in [
                #"{"privateKey":"x"}"#, #"{"kind":"s3"}"#, #"{"kind":"ftp"}"#, #"{"region":"r"}"#,
                #"{"rootCertificates":5}"#, "[", #"{"rootCertificates":"-----BEGIN CERTIFICATE-----\nx"}"#,
            ] {
                #expect(try await client.send(.put, path, wrong, type: json).status == .badRequest)
            }
            #expect(try await client.send(.put, "/v1/upload-endpoints/..%2Fup", "{}", type: json).status == .badRequest)
            // A client that may change endpoints could send all footage elsewhere.
            let guest = TestGateway.guestToken
            for asked in ["/v1/upload-endpoints", path, "/v1/upload-endpoints/unknown"] {
                #expect(try await client.send(.get, asked, token: guest).status == .forbidden)
            }
            #expect(try await client.send(.put, path, "{}", type: json, token: guest).status == .forbidden)
            #expect(try await client.send(.delete, path, token: guest).status == .forbidden)
            #expect(try await client.send(.delete, path, token: nil).status == .unauthorized)
            #expect(try await client.get(path).decoded(UploadEndpointSummary.self).kind == .s3)
            #expect(try await client.send(.delete, path).status == .noContent)
            #expect(try await client.send(.delete, path).status == .notFound)
        }
    }
}
