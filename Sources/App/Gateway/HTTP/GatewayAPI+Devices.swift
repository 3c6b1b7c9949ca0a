import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird

extension GatewayAPI {
    /// The response to `GET /v1/devices`.
    struct DeviceList: Codable, Sendable, Equatable {
        var devices: [DeviceSnapshot]
    }

    func addDeviceRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/devices") { _, context in
            try JSONBody.response(DeviceList(devices: await hub.devices(for: authorization(context).access)))
        }
        router.get("/v1/devices/:device") { _, context in
            try JSONBody.response(try await hub.device(context.parameters.require("device")))
        }
        router.get("/v1/devices/:device/traits/:trait") { _, context in
            try JSONBody.response(
                try await hub.trait(
                    context.parameters.require("trait"), of: context.parameters.require("device"),
                    for: principal(context)))
        }
        router.patch("/v1/devices/:device/traits/:trait") { request, context in
            try JSONBody.response(
                try await hub.update(
                    context.parameters.require("trait"), of: context.parameters.require("device"),
                    body: JSONBody.data(from: request), by: caller(request, context)))
        }
        router.post("/v1/devices/:device/traits/:trait/commands/:command") { request, context in
            // The caller's time counts from here, before the body is read.
            let call = CommandCall(
                deviceID: try context.parameters.require("device"), trait: try context.parameters.require("trait"),
                command: try context.parameters.require("command"), caller: try caller(request, context))
            return JSONBody.response(json: try await hub.send(call, body: JSONBody.data(from: request)))
        }
    }
}
