import ExampleOrganization
import GatewayClient
import HomeTypes

@testable import HomeSDK

/// A home with one light that has a vendor's trait. No gateway of ours has one, so the stream is written here, in the JSON of
/// the HTTP API.
enum VendorHome {
    private struct Stream: HomeModel.Feed {
        func follow(
            after cursor: String?, _ receive: @Sendable (EventFollower.Report) -> Void
        ) async throws(HomeError) {
            let light = """
                {"id":"d1","name":"Lamp","type":"OnOffLightDeviceType","structureID":"s1","isMatterDevice":false,
                 "connectivityState":"online","dataSourceLocality":"localPeer","endpoints":[
                  {"id":1,"types":["OnOffLightDeviceType"],"connectivityState":"online","dataSourceLocality":"localPeer",
                   "traitConnectivity":{},"traits":{"OnOff":{"onOff":true},"\(ExampleOrganization.SpinnerTrait.name)":{"rpm":33}}}]}
                """
            let structure = #"{"id":"s1","name":"Home","timeZone":"Europe/Berlin","traits":{}}"#
            receive(
                .update(
                    .state([
                        GatewayEvent(name: "structure", data: structure),
                        GatewayEvent(name: "device", id: "log-1-1", data: light),
                    ])))
            // The stream stays open until its home is released.
            while !Task.isCancelled {
                do { try await Task.sleep(for: .seconds(3_600)) } catch { break }
            }
        }
    }

    /// The home. Nothing listens at its address.
    static func make() -> Home {
        Home(GatewayConnection(url: "http://127.0.0.1:9", token: "none"), HomeClientConfiguration(), feed: Stream())
    }
}
