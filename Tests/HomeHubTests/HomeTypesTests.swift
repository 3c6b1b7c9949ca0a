import Foundation
import HomeTypes
import Testing

@testable import HomeHub

@Suite struct HomeTypesTests {
    @Test func codesCarryTheNumbersAndNamesOfGRPC() {
        #expect(HomeError.Code.allCases.map(\.rawValue) == Array(1...16))
        #expect(HomeError.Code.notFound.status == "NOT_FOUND")
        #expect(HomeError.Code.notFound.httpStatus == 404)
        #expect(HomeError.Code.unauthenticated.rawValue == 16)
        #expect(HomeError.Code.allCases.allSatisfy { (400...599).contains($0.httpStatus) })
        #expect(Set(HomeError.Code.allCases.map(\.status)).count == 16)
    }

    @Test func errorsSurviveTheWire() throws {
        let error = HomeError.resourceExhausted("32 viewers watch already")
        let data = try JSONEncoder().encode(HomeErrorResponse(error))
        #expect(try JSONDecoder().decode(HomeErrorResponse.self, from: data).homeError == error)
        let odd = Data(#"{"error":{"code":99,"status":"X","message":"m"}}"#.utf8)
        #expect(try JSONDecoder().decode(HomeErrorResponse.self, from: odd).homeError.code == .unknown)
    }

    @Test func qualityHintsAreReadByNameAndByNumberAndWrittenByName() throws {
        func read(_ text: String) -> QualityHint? { try? JSONDecoder().decode(QualityHint.self, from: Data(text.utf8)) }
        #expect(read("\"hd\"") == .hd)
        #expect(read("2") == .hd)
        #expect(read("\"8k\"") == nil)
        #expect(read("99") == nil)
        #expect(read("-1") == nil)
        #expect(String(decoding: try JSONEncoder().encode(QualityHint.uhd), as: UTF8.self) == "\"uhd\"")
    }

    @Test func connectivityIsAggregatedFromTheParts() {
        func make(_ states: [ConnectivityState]) -> ConnectivityState {
            SourceConnectivity(
                aggregating: states.map { .init(connectivityState: $0, dataSourceLocality: .direct) }
            ).connectivityState
        }
        #expect(make([.online, .online]) == .online)
        #expect(make([.online, .offline]) == .partiallyOnline)
        #expect(make([.offline, .unknown]) == .offline)
        #expect(make([]) == .unknown)
        let mixed = SourceConnectivity(aggregating: [
            .init(connectivityState: .online, dataSourceLocality: .direct),
            .init(connectivityState: .online, dataSourceLocality: .remote),
        ])
        #expect(mixed.dataSourceLocality == .mixed)
    }

    @Test func aDeviceReadsBackEqual() throws {
        let device = DeviceSnapshot(
            id: "door", name: "Door", type: .doorbell,
            connectivity: .init(connectivityState: .online, dataSourceLocality: .localPeer),
            source: .init(state: .flowing, tracks: [.init(kind: "video", codec: "VP8")]),
            traits: .init(
                webRtcLiveView: .init(supportedTalkbackType: .directly), pushAvStreamTransport: .init(),
                doorbellPress: .init()))
        let data = try JSONEncoder().encode(device)
        #expect(try JSONDecoder().decode(DeviceSnapshot.self, from: data) == device)
        #expect(device.traits["DoorbellPress"] != nil)
        #expect(device.traits["OnOff"] == nil)
    }

    @Test func secretsAreComparedWhole() {
        #expect(isEqualInConstantTime("abc", "abc"))
        #expect(!isEqualInConstantTime("abc", "abd"))
        #expect(!isEqualInConstantTime("abc", "ab"))
        #expect(isEqualInConstantTime("", ""))
    }
}
