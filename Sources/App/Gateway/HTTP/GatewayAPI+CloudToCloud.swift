import CloudToCloud
import DatagramPort
import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import Signalling
import Transport

/// The fulfilment of cloud-to-cloud, for an account that was linked by OAuth, and the signalling of its live streams.
extension GatewayAPI {
    /// A message of the signalling: an offer, an answer or the end (source: Google's codelab for camera streams).
    private struct Signal: Codable, Sendable {
        var action: String
        var deviceId: String?
        var sdp: String?
    }

    private struct Started: Decodable {
        var mediaSessionId: String
        var answerSdp: String
    }

    func addCloudToCloudRoutes(to router: Router<GatewayRequestContext>, addresses: AbsoluteAddresses) {
        router.post("/v1/cloud-to-cloud") { request, context in
            let authorization = try self.authorization(context)
            let caller = try self.caller(request, context)
            let asked = try CloudRequest(json: await JSONBody.data(from: request))
            let base = addresses.base(of: request)
            let isReported = reporter?.reports(authorization.tokenID) ?? false
            let fulfilment = CloudFulfilment(hub, caller: caller, willReportState: isReported) { device in
                try await promiseStream(of: device, to: caller, base: base)
            }
            let user = authorization.tokenID ?? authorization.principal
            let answer = await fulfilment.answer(asked, user: user)
            if asked.intent == .sync, isReported { await reporter?.synced(user) }
            // The account is no longer linked, so its tokens end. A token of the file belongs to a person.
            if asked.intent == .disconnect, let id = authorization.tokenID { try await tokens.revoke(id) }
            return try JSONBody.response(answer)
        }
        router.post("/v1/camera-streams/:stream") { request, context in
            let id = try context.parameters.require("stream")
            let token = AuthenticationMiddleware.bearerToken(request.headers[.authorization]) ?? ""
            guard let stream = cameraStreams.stream(id, token: token, at: MonotonicClock.now) else {
                throw HomeError.notFound("the stream has expired, or the token belongs to another one")
            }
            let signal = try await JSONBody.read(Signal.self, from: request)
            guard signal.deviceId.map({ $0 == stream.deviceID }) ?? true else {
                throw HomeError.invalidArgument("deviceId is not the device of this stream")
            }
            switch signal.action {
            case "offer": return try await answer(signal, id, stream, request, context)
            case "end":
                // The live view may have begun since the request came.
                if let session = cameraStreams.remove(id)?.session {
                    // One that has ended meanwhile needs nothing.
                    try? await hub.signalling.views.stopLiveView(
                        SessionReference(session, principal: stream.caller.principal))
                    await whepSessions.remove(session)
                }
                return JSONBody.response(json: Data("{}".utf8))
            case "answer":
                throw HomeError.failedPrecondition("the camera sends no offer, so it does not expect an answer")
            default: throw HomeError.invalidArgument("action must be offer or end")
            }
        }
    }

    /// The states of `GetCameraStream`.
    private func promiseStream(of device: String, to caller: Caller, base: String) async throws -> JSONValue {
        try await hub.requireView(of: device, for: caller)
        await cameraStreams.removeEnded(hub.signalling.views)
        let (id, token) = cameraStreams.add(device, for: caller, at: MonotonicClock.now)
        let servers = configuration.media.iceServers.map {
            ICEServerDescription(urls: [$0.url], username: $0.username, credential: $0.credential)
        }
        return .object([
            "cameraStreamProtocol": .string("webrtc"),
            "cameraStreamSignalingUrl": .string("\(base)/v1/camera-streams/\(id)"),
            "cameraStreamAuthToken": .string(token),
            "cameraStreamIceServers": .string(String(decoding: try JSONEncoder().encode(servers), as: UTF8.self)),
        ])
    }

    private func answer(
        _ signal: Signal, _ id: String, _ stream: CameraStreams.Stream, _ request: Request,
        _ context: GatewayRequestContext
    ) async throws -> Response {
        guard let offer = signal.sdp, offer.utf8.count <= GatewayAPI.maximumSDPSize else {
            throw HomeError.invalidArgument("sdp is missing, or longer than \(GatewayAPI.maximumSDPSize) bytes")
        }
        guard cameraStreams.take(id) else {
            throw HomeError.failedPrecondition("this stream has begun already; ask for another one")
        }
        // The viewer is not the cloud that asked: the addresses are those of this request.
        var caller = stream.caller
        caller.access = tokens.access(of: caller.principal)
        caller.address = context.remoteHost.map(Self.literal)
        caller.reachedAddresses = reachedAddresses(request, context)
        let call = CommandCall(
            deviceID: stream.deviceID, trait: Google.WebRtcLiveViewTrait.name, command: "startLiveView",
            caller: caller)
        let started: Started
        do {
            let data = try await hub.send(call, body: try JSONEncoder().encode(["offerSdp": offer]))
            started = try JSONDecoder().decode(Started.self, from: data)
        } catch {
            cameraStreams.giveBack(id)
            throw error
        }
        guard cameraStreams.record(session: started.mediaSessionId, of: id) else {
            // The end came while the camera's answer was on its way.
            try? await hub.signalling.views.stopLiveView(
                SessionReference(started.mediaSessionId, principal: caller.principal))
            throw HomeError.cancelled("this stream has ended; ask for another one")
        }
        // A display extends nothing, so the gateway does it, as for WHEP players.
        await whepSessions.add(
            started.mediaSessionId,
            .init(deviceID: stream.deviceID, principal: caller.principal, entityTag: ""))
        return try JSONBody.response(Signal(action: "answer", sdp: started.answerSdp))
    }
}
