import HTTPTypes
import HomeTypes
import Hummingbird
import PushAvStreamTransport

extension GatewayAPI {
    /// The response to `GET /v1/upload-endpoints`.
    struct UploadEndpointList: Codable, Sendable, Equatable {
        var endpoints: [UploadEndpointSummary]
    }

    /// The body of `PUT /v1/upload-endpoints/{name}`.
    struct UploadEndpointSettings: Codable, Sendable {
        var kind: UploadEndpointSummary.Kind?
        var rootCertificates: String?
        var clientCertificate: String?
        var privateKey: String?
        var region: String?
        var accessKeyId: String?
        var secretAccessKey: String?
        var sessionToken: String?
    }

    /// Where recordings can be uploaded to. Keys go in and never come out.
    func addUploadEndpointRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/upload-endpoints") { _, _ in
            try JSONBody.response(UploadEndpointList(endpoints: provisioned().summaries))
        }
        router.get("/v1/upload-endpoints/:name") { _, context in
            let endpoints = try provisioned()
            let name = try context.parameters.require("name")
            return try JSONBody.response(try Self.translating { try endpoints.summary(named: name) })
        }
        router.put("/v1/upload-endpoints/:name") { request, context in
            let endpoints = try provisioned()
            let name = try context.parameters.require("name")
            let settings = try await JSONBody.read(UploadEndpointSettings.self, from: request)
            let kind = try Self.kind(settings)
            let (summary, isNew) = try Self.translating {
                // What is refused is not kept, and is not masked until the gateway stops.
                try endpoints.put(name: name, kind: kind, rootCertificates: settings.rootCertificates) {
                    keeper.hide(kind.secrets)
                }
            }
            endpointsChanged()
            return try JSONBody.response(summary, status: isNew ? .created : .ok)
        }
        router.delete("/v1/upload-endpoints/:name") { _, context in
            let endpoints = try provisioned()
            let name = try context.parameters.require("name")
            try Self.translating { try endpoints.delete(name: name) }
            endpointsChanged()
            return Response(status: .noContent)
        }
    }

    private func provisioned() throws -> UploadEndpoints {
        guard let uploadEndpoints = self.uploadEndpoints else {
            throw HomeError.unimplemented("this gateway does not upload recordings")
        }
        return uploadEndpoints
    }

    private static func kind(_ settings: UploadEndpointSettings) throws -> UploadEndpoint.Kind {
        switch settings.kind ?? .tls {
        case .tls:
            guard settings.accessKeyId == nil, settings.secretAccessKey == nil, settings.region == nil,
                settings.sessionToken == nil
            else {
                throw HomeError.invalidArgument("region, accessKeyId, secretAccessKey and sessionToken need kind: s3")
            }
            return .tls(certificateChain: settings.clientCertificate, privateKey: settings.privateKey)
        case .s3:
            guard let key = settings.accessKeyId, let secret = settings.secretAccessKey, let region = settings.region
            else {
                throw HomeError.invalidArgument("an S3 endpoint needs region, accessKeyId and secretAccessKey")
            }
            guard settings.clientCertificate == nil, settings.privateKey == nil else {
                throw HomeError.invalidArgument("clientCertificate and privateKey need kind: tls")
            }
            return .s3(
                .init(accessKeyID: key, secretAccessKey: secret, sessionToken: settings.sessionToken), region: region)
        }
    }

    private static func translating<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as UploadEndpointError {
            switch error {
            case .invalid(let problem): throw HomeError.invalidArgument(problem)
            case .unknown(let name): throw HomeError.notFound("no upload endpoint is named \(name)")
            case .inUse(let name):
                throw HomeError.failedPrecondition(
                    "the upload endpoint \(name) is in use: a recording connection names it, or footage waits for it")
            case .tooMany:
                throw HomeError.resourceExhausted(
                    "there can be \(UploadEndpoints.maximumCount) upload endpoints; delete one first")
            case .storage(let failure): throw HomeError.unavailable("the endpoint cannot be stored: \(failure)")
            }
        }
    }
}
