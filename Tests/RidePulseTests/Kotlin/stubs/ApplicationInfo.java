package android.content.pm;

public class ApplicationInfo {
  public CharSequence loadLabel(PackageManager manager) { return "Rides"; }
}
