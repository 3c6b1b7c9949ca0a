import HomeHub
import HomeTypes
import Hummingbird

extension GatewayAPI {
    func addDoctorRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/doctor") { _, _ in
            try JSONBody.response(await doctor.report())
        }
        router.get("/v1/devices/:device/doctor") { _, context in
            let device = try deviceID(context)
            let mayRead = try authorization(context).access.permits(.read, hub.directory.device(device))
            return try JSONBody.response(try await doctor.report(about: device, withReasons: mayRead))
        }
    }
}
