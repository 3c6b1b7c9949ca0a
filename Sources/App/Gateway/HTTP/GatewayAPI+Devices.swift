import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import Signalling

extension GatewayAPI {
    /// What `GET /v1/devices` answers.
    struct DeviceList: Codable, Sendable, Equatable {
        var devices: [DeviceSnapshot]
    }

    /// The empty object: what a command without a result answers.
    struct Empty: Codable, Sendable, Equatable {}

    func addDeviceRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/devices") { _, _ in
            try JSONBody.response(DeviceList(devices: await self.hub.devices()))
        }
        router.get("/v1/devices/:device") { _, context in
            try JSONBody.response(try await self.hub.device(context.parameters.require("device")))
        }
        router.get("/v1/devices/:device/traits/:trait") { _, context in
            let trait = try await self.trait(context)
            return try JSONBody.response(trait)
        }
        router.post("/v1/devices/:device/traits/:trait/commands/:command") { request, context in
            let device = try context.parameters.require("device")
            let trait = try await self.trait(context)
            let command = try context.parameters.require("command")
            let type = type(of: trait)
            guard type.supportedCommandTypes.contains(command) else {
                let list = type.supportedCommandTypes.joined(separator: ", ")
                throw HomeError.notFound(
                    "trait \(type.name) has no command of this name; it has \(list.isEmpty ? "none" : list)")
            }
            switch trait {
            case is Google.WebRtcLiveViewTrait:
                return try await self.liveViewCommand(command, device: device, request: request, context: context)
            case is Google.DoorbellPressTrait:
                _ = try await JSONBody.read(Empty.self, from: request)
                try await self.hub.press(device)
                return try JSONBody.response(Empty())
            default:
                throw HomeError.unimplemented("trait \(type.name) takes no commands yet")
            }
        }
    }

    private func trait(_ context: GatewayRequestContext) async throws -> any Trait {
        let device = try await self.hub.device(context.parameters.require("device"))
        guard let trait = device.traits[try context.parameters.require("trait")] else {
            let names = device.traits.all.map { type(of: $0).name }.joined(separator: ", ")
            throw HomeError.notFound("device \(device.id) has no trait of this name; it has \(names)")
        }
        return trait
    }

    private func liveViewCommand(
        _ command: String, device: String, request: Request, context: GatewayRequestContext
    ) async throws -> Response {
        typealias Live = Google.WebRtcLiveViewTrait
        let principal = try self.principal(context)
        switch command {
        case "startLiveView":
            let parameters = try await JSONBody.read(Live.StartLiveViewParameters.self, from: request)
            let started = try await self.hub.startLiveView(
                StartLiveViewRequest(
                    deviceID: device, principal: principal, offerSdp: parameters.offerSdp,
                    qualityHint: parameters.qualityHint.flatMap { Signalling.QualityHint(rawValue: $0.rawValue) },
                    reachedAddresses: self.reachedAddresses(request, context),
                    viewerAddress: context.remoteHost.map(Self.literal)))
            return try JSONBody.response(
                Live.StartLiveViewResult(
                    mediaSessionId: started.mediaSessionId, answerSdp: started.answerSdp,
                    liveSessionDurationSeconds: started.liveSessionDurationSeconds, notes: started.notes))
        case "extendLiveView":
            let parameters = try await JSONBody.read(Live.ExtendLiveViewParameters.self, from: request)
            let granted = try await self.hub.extendLiveView(
                deviceID: device, mediaSessionId: parameters.mediaSessionId, principal: principal,
                extendedDurationSeconds: parameters.extendedDurationSeconds)
            return try JSONBody.response(Live.ExtendLiveViewResult(liveSessionDurationSeconds: granted))
        case "stopLiveView":
            let parameters = try await JSONBody.read(Live.SessionParameters.self, from: request)
            try await self.hub.stopLiveView(
                deviceID: device, mediaSessionId: parameters.mediaSessionId, principal: principal)
        case "startTalkback":
            let parameters = try await JSONBody.read(Live.StartTalkbackParameters.self, from: request)
            try await self.hub.startTalkback(
                deviceID: device, mediaSessionId: parameters.mediaSessionId, principal: principal,
                offerSdp: parameters.offerSdp)
        case "stopTalkback":
            let parameters = try await JSONBody.read(Live.SessionParameters.self, from: request)
            try await self.hub.stopTalkback(
                deviceID: device, mediaSessionId: parameters.mediaSessionId, principal: principal)
        case "changeLiveViewQuality":
            let parameters = try await JSONBody.read(Live.ChangeLiveViewQualityParameters.self, from: request)
            let used = try await self.hub.changeLiveViewQuality(
                deviceID: device, mediaSessionId: parameters.mediaSessionId, principal: principal,
                qualityHint: parameters.qualityHint)
            return try JSONBody.response(Live.ChangeLiveViewQualityResult(qualityHint: used))
        default:
            throw HomeError.unimplemented("the command is not written yet")
        }
        return try JSONBody.response(Empty())
    }
}
