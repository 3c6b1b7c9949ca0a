import HomeHub
import HomeTypes

extension HomeShapes: HomeObserver {
    func watches(deviceID: String) -> Bool { isWatched(deviceID) }

    func take(_ observation: HomeObservation) {
        switch observation {
        case .device(let device): record(device)
        case .deviceRemoved(let id): recordRemoval(of: id)
        case .structureRemoved(let id): recordRemoval(ofStructure: id)
        case .structure(let structure): record(structure)
        case .event: break
        }
    }
}
