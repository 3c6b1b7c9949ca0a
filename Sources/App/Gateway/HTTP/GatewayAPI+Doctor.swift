import HomeHub
import HomeTypes
import Hummingbird

extension GatewayAPI {
    func addDoctorRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/doctor") { _, _ in
            var report = await doctor.report()
            report.findings += DoctorFinding.refusedStreams(go2RTC.refusals)
            let replaced = await keeper.replacedEntries
            report.findings += replaced.map { DoctorFinding.replaced($0) }
            return try JSONBody.response(report)
        }
        router.get("/v1/devices/:device/doctor") { _, context in
            let device = try deviceID(context)
            let mayRead = try authorization(context).access.permits(.read, hub.directory.device(device))
            return try JSONBody.response(try await doctor.report(about: device, withReasons: mayRead))
        }
    }
}
